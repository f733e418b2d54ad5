// What a plan and a decision have in common: who makes way, who stays, what it costs, what else was possible.
import { html } from "./vendor/htm-preact.js";
import { plural } from "./lib.js";
import { Name, NodeLinks, Told, UnitLink, Units, nodeLink, useMore } from "./parts.js";
import { Table } from "./table.js";

const STEP = 100;
const COSTS = {
  budgetViolations: "budgets broken", highestPriority: "highest priority", units: "units", pods: "pods", groups: "groups disrupted",
};
const words = (name) => COSTS[name] || name.replace(/([A-Z])/g, " $1").toLowerCase();

export function Reasons({ list, about, here }) {
  return list && list.length > 0 && html`<ul class="reasons">${list.map((r) => html`<li><${Told} text=${r} about=${about} here=${here} /></li>`)}</ul>`;
}

export function Cost({ cost }) {
  const terms = Object.entries(cost || {}).filter(([, value]) => typeof value !== "object" || value === null);
  if (!terms.length) return null;
  return html`<h3>Cost</h3><dl class="facts">${terms.map(([name, value]) => html`<div><dt>${words(name)}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>`;
}

// The same sentence about many is said once: the names of victims, their nodes and the preemptor's pods in it become general.
function saidOnce(list, by) {
  const nodes = new Set(list.flatMap((v) => [v.node, ...(v.nodes || [])]).filter(Boolean));
  const pods = new Set(list.map((v) => v.pod).filter(Boolean));
  const preemptor = (by || "").split("/").slice(1).join("/");
  const word = (token) => (nodes.has(token) ? "its node" : pods.has(token) ? "it" : preemptor && (token === preemptor || token.startsWith(`${preemptor}-`)) ? by : token);
  const found = new Map();
  for (const { reason, name, unit, pods: many } of list) {
    if (!reason || !reason.includes(" ")) continue; // a code of Kueue's: the reasons above say it in words
    const general = reason.replace(/[\w./-]*\w/g, word).replace(/its \d+ pods go together/, "its pods go together")
      .replace(/\d+ pods? beyond a disruption budget/, "beyond a disruption budget");
    const said = found.get(general);
    if (said) said.count += 1;
    else found.set(general, { general, count: 1, first: many > 1 ? general : reason, who: name || unit });
  }
  return [...found.values()].sort((x, y) => y.count - x.count);
}

export function ReasonsOnce({ list, what, by }) {
  const [limit, more] = useMore(8);
  const reasons = saidOnce(list, by);
  if (!reasons.length) return null;
  return html`<div class="why-once"><p class="note">Why</p><ul class="reasons">${reasons.slice(0, limit).map((r) => html`<li>${r.count > 1 ? html`<strong>${plural(r.count, what)}:</strong> <${Told} text=${r.general} about=${by} />`
    : html`${list.length > 1 && r.who && html`<${UnitLink} unit=${r.who} />: `}<${Told} text=${r.first} about=${by} />`}</li>`)}</ul>
    ${more(reasons.length, "reasons")}</div>`;
}

// One row a unit: the pods of a gang go together.
function byUnit(list) {
  const found = new Map();
  for (const v of list) {
    const unit = v.unit || (v.workload ? `Workload/${v.workload}` : `Pod/${v.pod}`);
    if (!found.has(unit)) found.set(unit, { key: unit, unit, pods: 0, broken: 0, nodes: new Set(), clusterQueue: v.clusterQueue, priority: v.priority });
    const row = found.get(unit);
    row.pods += 1; row.broken += v.violatesBudget ? 1 : 0;
    if (v.node) row.nodes.add(v.node);
  }
  return [...found.values()];
}

export function Victims({ list, verb, by }) {
  const [limit, more] = useMore(STEP);
  if (!list || !list.length) return null;
  const rows = byUnit(list), queues = list.some((v) => v.clusterQueue);
  return html`<${Table} shown caption=${`${plural(list.length, "victim")} ${verb}`} rows=${rows.slice(0, limit)} columns=${[
    { title: "Unit", cell: (v) => html`<${UnitLink} unit=${v.unit} />` },
    ...(queues ? [{ title: "Queue", cell: (v) => (v.clusterQueue ? html`<${UnitLink} unit=${`ClusterQueue/${v.clusterQueue}`} text=${v.clusterQueue} />` : "–") }] : [{ title: "Pods", number: true, cell: (v) => v.pods }, { title: "Nodes", cell: (v) => html`<${NodeLinks} nodes=${[...v.nodes]} most=${3} />` }]),
    { title: "Priority", number: true, cell: (v) => v.priority ?? "–" },
    ...(queues ? [] : [{ title: "Budget", cell: (v) => (v.broken ? html`<span class="tag bad">broken</span>` : "kept") }]),
  ]} />${more(rows.length, "units")}<${ReasonsOnce} list=${list} what="victim" by=${by} />`;
}

export function Reprieved({ list }) {
  const [limit, more] = useMore(STEP);
  if (!list || !list.length) return null;
  return html`<${Table} shown caption=${`${plural(list.length, "unit")} reprieved: could have gone, and stay${list.length === 1 ? "s" : ""}`}
    rows=${list.slice(0, limit).map((r) => ({ key: r.unit, ...r }))} columns=${[
      { title: "Unit", cell: (r) => html`<${UnitLink} unit=${r.unit} />` },
      { title: "Nodes", cell: (r) => html`<${NodeLinks} nodes=${r.nodes || []} />` },
      { title: "Priority", number: true, cell: (r) => r.priority },
    ]} />${more(list.length, "units")}<${ReasonsOnce} list=${list.map((r) => ({ ...r, pod: r.unit.split("/").slice(1).join("/") }))} what="unit" />`;
}

export function Budgets({ list }) {
  if (!list || !list.length) return null;
  return html`<h3>What the budgets say</h3><ul class="reasons">${list.map((b) => html`<li><${Told} text=${b.sentence} /></li>`)}</ul>`;
}

export function Placements({ placements, caption }) {
  const [limit, more] = useMore(STEP);
  const rows = Object.entries(placements || {}).map(([pod, node]) => ({ key: pod, pod, node }));
  if (!rows.length) return null;
  return html`<${Table} shown caption=${caption} rows=${rows.slice(0, limit)} columns=${[
    { title: "Pod", cell: (p) => html`<${UnitLink} unit=${`Pod/${p.pod}`} text=${p.pod} />` },
    { title: "Node", cell: (p) => html`<a href=${nodeLink(p.node)}><${Name}>${p.node}<//></a>` }]} />
    ${more(rows.length, "pods")}`;
}

// What every claim without a volume gets: one that exists, or one that is made where its pod goes.
export function Volumes({ volumes }) {
  const [limit, more] = useMore(STEP);
  const rows = Object.entries(volumes || {}).map(([claim, use]) => ({ key: claim, claim, ...use }));
  if (!rows.length) return null;
  return html`<${Table} shown caption="What the claims get" rows=${rows.slice(0, limit)} columns=${[
    { title: "Claim", name: true, cell: (v) => v.claim },
    { title: "Volume", wide: true, cell: (v) => v.volume || `a new one, made for ${v.provision}` }]} />
    ${more(rows.length, "claims")}`;
}

export function Alternatives({ title, list }) {
  if (!list || !list.length) return null;
  const cost = (a) => (a.cost && a.cost.units !== undefined ? ` (${plural(a.cost.units, "unit")}, ${plural(a.cost.pods ?? 0, "pod")})` : "");
  return html`<h3>${title}</h3><ul class="reasons">${list.map((a) => html`<li>${a.title}: ${
    a.victims.length ? html`<${Units} list=${a.victims} /> would make way` : "nobody would have to go"}${cost(a)}</li>`)}</ul>`;
}
