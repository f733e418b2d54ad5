// The quota tree: what each queue owns, uses, borrows and lends.
import { html, useMemo, useState } from "../vendor/htm-preact.js";
import { amount, plural } from "../lib.js";
import { Empty } from "../parts.js";

function Bar({ line }) {
  const nominal = line.nominal ?? line.used;
  const span = Math.max(nominal, line.used, 1);
  const own = Math.min(line.used, nominal);
  const label = `${amount(line.resource, line.used)} of ${amount(line.resource, line.nominal)} used`
    + (line.borrowed ? `, ${amount(line.resource, line.borrowed)} borrowed` : "") + (line.lent ? `, ${amount(line.resource, line.lent)} lent` : "");
  return html`<div class="bar-row"><span>${line.flavor} · ${line.resource}</span>
    <span class="meter" aria-hidden="true">
      <span class="own" style=${{ width: `${(100 * own) / span}%` }}></span>
      <span class="borrowed" style=${{ width: `${(100 * line.borrowed) / span}%` }}></span>
      <span class="lent" style=${{ width: `${(100 * Math.min(line.lent, span - own)) / span}%` }}></span>
    </span><span>${label}</span></div>`;
}

function Queue({ queue }) {
  return html`<section class="queue" aria-label=${`ClusterQueue ${queue.name}`}><h2>${queue.name}</h2>
    <p class="note">${plural(queue.pending, "workload")} waiting, ${queue.admitted} admitted${queue.weight ? `, weight ${queue.weight}` : ""}</p>
    ${queue.resources.map((line) => html`<${Bar} line=${line} />`)}
    ${!queue.resources.length && html`<p class="note">It owns no quota and uses none.</p>`}
    ${queue.waiting.length > 0 && html`<ul class="reasons">${queue.waiting.map((w) => html`<li><strong>${w.workload}</strong> ${w.why}</li>`)}
      ${queue.pending > queue.waiting.length && html`<li>and ${queue.pending - queue.waiting.length} more</li>`}</ul>`}
  </section>`;
}

// Queues and children by cohort, and what everything below a cohort adds up to.
function index({ cohorts, queues }) {
  const by = (list, key) => list.reduce((map, each) => map.set(each[key], [...(map.get(each[key]) || []), each]), new Map());
  return { names: new Set(cohorts.map((c) => c.name)), children: by(cohorts, "parent"), queues: by(queues, "cohort") };
}

const below = (name, tree) => [...(tree.queues.get(name) || []), ...(tree.children.get(name) || []).flatMap((c) => below(c.name, tree))];

function Cohort({ name, tree }) {
  const all = below(name, tree);
  const sums = new Map();
  for (const line of all.flatMap((q) => q.resources)) {
    const [used, nominal] = sums.get(line.resource) || [0, 0];
    sums.set(line.resource, [used + line.used, nominal === null || line.nominal === null ? null : nominal + line.nominal]);
  }
  const totals = [...sums].map(([r, [used, nominal]]) => `${r} ${amount(r, used)} of ${amount(r, nominal)}`).join(", ");
  return html`<details class="cohort" open><summary><strong>${name}</strong> cohort, ${plural(all.length, "queue")}${totals && `: ${totals}`}</summary>
    ${(tree.queues.get(name) || []).map((q) => html`<${Queue} key=${q.name} queue=${q} />`)}
    ${(tree.children.get(name) || []).map((c) => html`<${Cohort} key=${c.name} name=${c.name} tree=${tree} />`)}</details>`;
}

export function QuotaView({ state }) {
  const [filter, setFilter] = useState("");
  const { cohorts, queues } = state.quota;
  const tree = useMemo(() => index(state.quota), [state.quota]);
  if (!queues.length) return html`<${Empty}>No ClusterQueues. The examples under <code>examples/10-…</code> create some.<//>`;
  const matching = filter ? queues.filter((q) => q.name.includes(filter)) : null;
  const roots = cohorts.filter((c) => !c.parent || !tree.names.has(c.parent));
  return html`
    <div class="toolbar"><label>Find a queue <input type="search" value=${filter} onInput=${(e) => setFilter(e.target.value)} placeholder="part of its name" /></label>
    <ul class="legend" aria-label="Colours"><li><span class="swatch own"></span>own quota used</li><li><span class="swatch borrowed"></span>borrowed</li>
      <li><span class="swatch lent"></span>lent to others</li><li><span class="swatch"></span>unused</li></ul></div>
    ${matching && !matching.length && html`<${Empty}>No queue's name contains “${filter}”.<//>`}
    ${matching ? matching.map((q) => html`<${Queue} key=${q.name} queue=${q} />`) : html`
      ${roots.map((c) => html`<${Cohort} key=${c.name} name=${c.name} tree=${tree} />`)}
      ${(tree.queues.get("") || []).map((q) => html`<${Queue} key=${q.name} queue=${q} />`)}`}`;
}
