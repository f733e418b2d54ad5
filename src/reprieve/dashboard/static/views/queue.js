// Who waits, for how long, and for what: one row for a gang or a job, most important first. A row unfolds into its pods.
import { html } from "../vendor/htm-preact.js";
import { thousands, mine, namespaceOf, plural } from "../lib.js";
import { link, useAnswer, useSeconds } from "../live.js";
import { Empty, Find, Fold, NodeLinks, Told, UnitLink, When, unfolding, useMore } from "../parts.js";
import { Table } from "../table.js";

// Many wait for the same reason: it is said once, above them.
function commonReason(rows) {
  const counts = new Map();
  for (const { why } of rows) if (why) counts.set(why, (counts.get(why) || 0) + 1);
  const [why, count] = [...counts.entries()].sort((a, b) => b[1] - a[1])[0] || ["", 0];
  return count > 2 ? { why, count } : { why: "", count: 0 };
}

const Reason = ({ row, common }) => html`${row.why && row.why === common ? html`<span class="note">as said above the list</span>` : row.why ? html`<${Told} text=${row.why} about=${row.unit} />` : "not tried yet"}${
  row.reasons > 1 && html` <span class="tag">and ${plural(row.reasons - 1, "other reason")}</span>`}`;

// Pods that wait for the same stand together, the most first: what they wait for is said once.
function byReason(pods) {
  const groups = new Map();
  for (const pod of pods) groups.set(pod.why, [...(groups.get(pod.why) || []), pod]);
  return [...groups.values()].sort((a, b) => b.length - a.length).flatMap((group) => group.map((pod, i) => ({ ...pod, first: i === 0 })));
}

// The pods of a row are asked for when somebody unfolds it.
function Members({ unit, revision, now }) {
  const [limit, more] = useMore(50);
  const { data, error } = useAnswer(`api/waiting?of=${encodeURIComponent(unit)}`, revision);
  if (error) return html`<p class="note">Its pods cannot be shown: ${error}</p>`;
  if (!data) return html`<p class="note" role="status">Reading its pods…</p>`;
  const pods = byReason(data.items), differ = new Set(pods.map((p) => p.why)).size > 1;
  return html`<${Table} caption=${`Waiting pods of ${unit}`} rows=${pods.slice(0, limit).map((p) => ({ key: p.pod, ...p }))} columns=${[
    { title: "Pod", cell: (p) => html`<${UnitLink} unit=${`Pod/${p.pod}`} text=${p.pod} />` },
    { title: "Waiting", number: true, cell: (p) => html`<${When} iso=${p.since} now=${now} ago />` },
    ...(data.items.some((p) => p.nominated) ? [{ title: "Nominated to", cell: (p) => html`<${NodeLinks} nodes=${p.nominated ? [p.nominated] : []} />` }] : []),
    ...(differ ? [{ title: "Why", wide: true, cell: (p) => (p.first ? p.why || "not tried yet" : html`<span class="note">the same</span>`) }] : []),
  ]} />${more(data.items.length, "pods")}`;
}

export function QueueView({ state, params }) {
  const now = useSeconds();
  const [open, toggle] = unfolding(params);
  const [limit, more] = useMore(100);
  const { find = "" } = params;
  const { waitingUnits } = state.summary;
  if (!state.queue.length) return html`<${Empty}>Nobody waits: every pod has its place. <a href=${link("whatif")}>What if</a> says what a new job would find.<//>`;
  const matching = state.queue.filter((u) => u.unit.includes(find) && mine(params, namespaceOf(u.unit), u.team));
  const shown = matching.slice(0, limit), common = commonReason(shown);
  const cut = waitingUnits > state.queue.length, folds = shown.some((u) => u.pods > 1);
  return html`
    <div class="toolbar"><${Find} what="a unit" value=${find} />
      ${cut && html`<span class="note">The first ${thousands(state.queue.length)} of ${thousands(waitingUnits)} waiting units, in the order they are tried.</span>`}</div>
    ${!matching.length && html`<${Empty}>${find ? `No waiting unit's name contains “${find}”.` : "Nothing of this namespace or team waits."}<//>`}
    ${common.count > 0 && html`<p class="sheet said-once"><strong>${plural(common.count, "unit")}:</strong> <${Told} text=${common.why} /></p>`}
    ${matching.length > 0 && html`<${Table} caption="Waiting units, in the order they are tried" rows=${shown.map((u) => ({ key: u.unit, ...u }))}
      columns=${[
        { title: "Unit", cell: (u) => html`<span class="tree-root">${u.pods > 1 ? html`<${Fold} open=${open.has(u.unit)} label=${`Pods of ${u.unit}`} onToggle=${() => toggle(u.unit)} />`
          : folds && html`<span class="fold-space"></span>`}<${UnitLink} unit=${u.unit} /></span>` },
        { title: "Priority", number: true, cell: (u) => html`<span title=${u.class}>${u.priority}</span>` },
        { title: "Pods", number: true, cell: (u) => u.pods },
        ...(shown.some((u) => u.gpus) ? [{ title: "GPUs", number: true, cell: (u) => u.gpus }] : []),
        ...(shown.some((u) => u.team) ? [{ title: "Team", cell: (u) => u.team || "–" }] : []),
        { title: "Waiting", number: true, cell: (u) => html`<${When} iso=${u.since} now=${now} ago />` },
        { title: "Nominated to", cell: (u) => html`<${NodeLinks} nodes=${u.nominated} />` },
        { title: "Why", wide: true, cell: (u) => html`<${Reason} row=${u} common=${common.why} />` },
      ]} below=${(u) => open.has(u.unit) && html`<${Members} unit=${u.unit} revision=${state.revision} now=${now} />`} />`}
    ${more(matching.length, "units")}`;
}
