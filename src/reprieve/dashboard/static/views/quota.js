// The quota tree: what each queue owns, uses, borrows and lends.
import { html, amount, plural, Empty } from "../lib.js";

function Bar({ line }) {
  const span = Math.max(line.nominal, line.used, 1);
  const own = Math.min(line.used, line.nominal);
  const label = `${amount(line.resource, line.used)} of ${amount(line.resource, line.nominal)} used`
    + (line.borrowed ? `, ${amount(line.resource, line.borrowed)} borrowed` : "") + (line.lent ? `, ${amount(line.resource, line.lent)} lent` : "");
  return html`<div class="bar-row"><span>${line.flavor} · ${line.resource}</span>
    <span class="meter" role="img" aria-label=${label}>
      <span class="own" style=${{ width: `${(100 * own) / span}%` }}></span>
      <span class="borrowed" style=${{ width: `${(100 * line.borrowed) / span}%` }}></span>
      <span class="lent" style=${{ width: `${(100 * Math.min(line.lent, span - own)) / span}%` }}></span>
    </span><span>${label}</span></div>`;
}

function Queue({ queue }) {
  return html`<section class="queue"><h3>${queue.name}</h3>
    <p class="note">${plural(queue.pending, "workload")} waiting, ${queue.admitted} admitted${queue.weight ? `, weight ${queue.weight}` : ""}</p>
    ${queue.resources.map((line) => html`<${Bar} line=${line} />`)}
    ${queue.waiting.length > 0 && html`<ul class="reasons">${queue.waiting.map((w) => html`<li><strong>${w.workload}</strong> ${w.why}</li>`)}</ul>`}
  </section>`;
}

function Cohort({ node, tree }) {
  const children = tree.cohorts.filter((c) => c.parent === node.name);
  const queues = tree.queues.filter((q) => q.cohort === node.name);
  return html`<details class="cohort" open><summary><strong>${node.name}</strong> cohort, ${plural(queues.length, "queue")}</summary>
    ${queues.map((q) => html`<${Queue} key=${q.name} queue=${q} />`)}
    ${children.map((c) => html`<${Cohort} key=${c.name} node=${c} tree=${tree} />`)}</details>`;
}

export function QuotaView({ state }) {
  const tree = state.quota;
  if (!tree.queues.length) return html`<${Empty}>No ClusterQueues. The examples under <code>examples/10-…</code> create some.<//>`;
  const names = new Set(tree.cohorts.map((c) => c.name));
  return html`
    <ul class="legend"><li><span class="swatch own"></span>own quota used</li><li><span class="swatch borrowed"></span>borrowed</li><li><span class="swatch lent"></span>lent to others</li></ul>
    ${tree.cohorts.filter((c) => !c.parent || !names.has(c.parent)).map((c) => html`<${Cohort} key=${c.name} node=${c} tree=${tree} />`)}
    ${tree.queues.filter((q) => !q.cohort).map((q) => html`<${Queue} key=${q.name} queue=${q} />`)}`;
}
