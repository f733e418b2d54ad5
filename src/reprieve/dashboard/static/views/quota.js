// The quota tree: what each queue owns, uses, borrows and lends.
import { html, useEffect, useMemo } from "../vendor/htm-preact.js";
import { amount, plural } from "../lib.js";
import { known, link, useAnswer, useSeconds } from "../live.js";
import { Empty, Find, Told, UnitLink } from "../parts.js";
import { Trend } from "./trend.js";

const TREND_EVERY = 60; // seconds

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

// Why they wait, said once for all that wait for the same.
function Waiting({ queue }) {
  const why = new Map();
  for (const w of queue.waiting) why.set(w.why, [...(why.get(w.why) || []), w.workload]);
  return html`<ul class="reasons">${[...why].map(([reason, names]) => html`<li>${names.map((name, i) => html`${i ? ", " : ""}<${UnitLink} unit=${`Workload/${name}`} text=${name} />`)}: <${Told} text=${reason} about=${`ClusterQueue/${queue.name}`} /></li>`)}
    ${queue.pending > queue.waiting.length && html`<li>and ${queue.pending - queue.waiting.length} more</li>`}</ul>`;
}

// There may be hundreds, and few of them change at a time: one that did not is not drawn again.
function Queue({ queue, trends, params }) {
  return useMemo(() => drawn(queue, trends, params.queue), [queue, trends, params, known()]);
}

function drawn(queue, trends, picked) {
  return html`<section class=${`queue ${picked === queue.name ? "picked" : ""}`} aria-label=${`ClusterQueue ${queue.name}`}><h2><${UnitLink} unit=${`ClusterQueue/${queue.name}`} text=${queue.name} /></h2>
    <p class="note">${plural(queue.pending, "workload")} waiting, ${queue.admitted} admitted${queue.weight ? `, weight ${queue.weight}` : ""}</p>
    ${queue.resources.map((line) => html`<${Bar} line=${line} />`)}
    ${!queue.resources.length && html`<p class="note">It owns no quota and uses none.</p>`}
    <${Trend} trends=${trends} name=${queue.name} />
    ${queue.waiting.length > 0 && html`<${Waiting} queue=${queue} />`}
  </section>`;
}

// Queues and children by cohort, and what everything below a cohort adds up to.
function index({ cohorts, queues }) {
  const by = (list, key) => list.reduce((map, each) => map.set(each[key], [...(map.get(each[key]) || []), each]), new Map());
  return { names: new Set(cohorts.map((c) => c.name)), children: by(cohorts, "parent"), queues: by(queues, "cohort") };
}

const below = (name, tree) => [...(tree.queues.get(name) || []), ...(tree.children.get(name) || []).flatMap((c) => below(c.name, tree))];

function Cohort({ name, tree, shared }) {
  const all = below(name, tree);
  const sums = new Map();
  for (const line of all.flatMap((q) => q.resources)) {
    const [used, nominal] = sums.get(line.resource) || [0, 0];
    sums.set(line.resource, [used + line.used, nominal === null || line.nominal === null ? null : nominal + line.nominal]);
  }
  const totals = [...sums].map(([r, [used, nominal]]) => `${r} ${amount(r, used)} of ${amount(r, nominal)}`).join(", ");
  return html`<details class="cohort" open><summary><strong>${name}</strong> cohort, ${plural(all.length, "queue")}${totals && `: ${totals}`}</summary>
    ${(tree.queues.get(name) || []).map((q) => html`<${Queue} key=${q.name} queue=${q} ...${shared} />`)}
    ${(tree.children.get(name) || []).map((c) => html`<${Cohort} key=${c.name} name=${c.name} tree=${tree} shared=${shared} />`)}</details>`;
}

export function QuotaView({ state, params }) {
  const { find: filter = "", queue: picked, cohort } = params;
  const { data: trends } = useAnswer("api/trends", useSeconds(TREND_EVERY));
  const shared = { trends, params };
  useEffect(() => { const found = document.querySelector(".queue.picked"); if (found) found.scrollIntoView({ block: "center" }); }, [picked]);
  const { cohorts, queues } = state.quota;
  const tree = useMemo(() => index(state.quota), [state.quota]);
  if (!queues.length) return html`<${Empty}>No ClusterQueues. The examples under <code>examples/10-…</code> create some.<//>`;
  const matching = filter ? queues.filter((q) => q.name.includes(filter)) : null;
  const roots = cohorts.filter((c) => (cohort ? c.name === cohort : !c.parent || !tree.names.has(c.parent)));
  return html`
    <div class="toolbar"><${Find} what="a queue" value=${filter} />${cohort && html`<span>Cohort <strong>${cohort}</strong> <a href=${link("quota")}>Show all</a></span>`}
    <ul class="legend" aria-label="Colours"><li><span class="swatch own"></span>own quota used</li><li><span class="swatch borrowed"></span>borrowed</li>
      <li><span class="swatch lent"></span>lent to others</li><li><span class="swatch"></span>unused</li>
      <li><span class="dash trend-used"></span>used, over time</li><li><span class="dash trend-waiting"></span>waiting, over time</li></ul></div>
    ${matching && !matching.length && html`<${Empty}>No queue's name contains “${filter}”.<//>`}
    ${matching ? matching.map((q) => html`<${Queue} key=${q.name} queue=${q} ...${shared} />`) : html`
      ${roots.map((c) => html`<${Cohort} key=${c.name} name=${c.name} tree=${tree} shared=${shared} />`)}
      ${!cohort && (tree.queues.get("") || []).map((q) => html`<${Queue} key=${q.name} queue=${q} ...${shared} />`)}`}`;
}
