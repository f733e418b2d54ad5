// Who waits, for how long, and for what: one line a unit, most important first.
import { html } from "../vendor/htm-preact.js";
import { mine, namespaceOf, plural } from "../lib.js";
import { link, useSeconds } from "../live.js";
import { Table, Empty, Find, UnitLink, When, useMore } from "../parts.js";

// Many wait for the same reason: it is said once, above them.
function commonReason(rows) {
  const counts = new Map();
  for (const { why } of rows) if (why) counts.set(why, (counts.get(why) || 0) + 1);
  const [why, count] = [...counts.entries()].sort((a, b) => b[1] - a[1])[0] || ["", 0];
  return count > 2 ? { why, count } : { why: "", count: 0 };
}

export function QueueView({ state, params }) {
  const now = useSeconds();
  const [limit, more] = useMore(100);
  const { find = "" } = params;
  const { waitingUnits } = state.summary;
  if (!state.queue.length) return html`<${Empty}>Nobody waits: every pod has its place. <a href=${link("whatif")}>What if</a> says what a new job would find.<//>`;
  const matching = state.queue.filter((u) => u.unit.includes(find) && mine(params, namespaceOf(u.unit), u.team));
  const shown = matching.slice(0, limit), common = commonReason(shown);
  const cut = waitingUnits > state.queue.length;
  return html`
    <div class="toolbar"><${Find} what="a unit" value=${find} />
      ${cut && html`<span class="note">The first ${state.queue.length.toLocaleString("en")} of ${waitingUnits.toLocaleString("en")} waiting units, in the order they are tried.</span>`}</div>
    ${!matching.length && html`<${Empty}>${find ? `No waiting unit's name contains “${find}”.` : "Nothing of this namespace or team waits."}<//>`}
    ${common.count > 0 && html`<p class="sheet said-once"><strong>${plural(common.count, "unit")}:</strong> ${common.why}</p>`}
    ${matching.length > 0 && html`<${Table} caption="Waiting units, in the order they are tried" rows=${shown.map((u) => ({ key: u.unit, ...u }))}
      columns=${[
        { title: "Unit", cell: (u) => html`<${UnitLink} unit=${u.unit} />` },
        { title: "Priority", number: true, cell: (u) => html`<span title=${u.class}>${u.priority}</span>` },
        { title: "Pods", number: true, cell: (u) => u.pods },
        ...(shown.some((u) => u.gpus) ? [{ title: "GPUs", number: true, cell: (u) => u.gpus }] : []),
        ...(shown.some((u) => u.team) ? [{ title: "Team", cell: (u) => u.team || "–" }] : []),
        { title: "Waiting", number: true, cell: (u) => html`<${When} iso=${u.since} now=${now} ago />` },
        { title: "Nominated to", cell: (u) => u.nominated.slice(0, 5).map((n, i) => html`${i ? ", " : ""}<a href=${link("map", { node: n })}>${n}</a>`).concat(u.nominated.length > 5 ? ` and ${u.nominated.length - 5} more` : u.nominated.length ? "" : "–") },
        { title: "Why", wide: true, cell: (u) => (u.why && u.why === common.why ? html`<span class="note">as above</span>` : u.why || "not tried yet") },
      ]} />`}
    ${more(matching.length, "units")}`;
}
