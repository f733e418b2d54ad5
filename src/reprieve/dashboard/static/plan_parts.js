// What a plan and a decision have in common: who makes way, who stays, what it costs, what else was possible.
import { html } from "./vendor/htm-preact.js";
import { plural } from "./lib.js";
import { Table, UnitLink, useMore } from "./parts.js";

const STEP = 100;
const COSTS = {
  budgetViolations: "budgets broken", highestPriority: "highest priority", units: "units", pods: "pods", groups: "groups disrupted",
};
const words = (name) => COSTS[name] || name.replace(/([A-Z])/g, " $1").toLowerCase();

export function Reasons({ list }) {
  return list && list.length > 0 && html`<ul class="reasons">${list.map((r) => html`<li>${r}</li>`)}</ul>`;
}

export function Cost({ cost }) {
  const terms = Object.entries(cost || {}).filter(([, value]) => typeof value !== "object" || value === null);
  if (!terms.length) return null;
  return html`<h3>Cost</h3><dl class="facts">${terms.map(([name, value]) => html`<div><dt>${words(name)}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>`;
}

export function Victims({ list, verb }) {
  const [limit, more] = useMore(STEP);
  if (!list || !list.length) return null;
  const rows = list.slice(0, limit).map((v) => ({ key: v.pod || v.workload, ...v }));
  const queues = list.some((v) => v.clusterQueue);
  return html`<${Table} shown caption=${`${plural(list.length, "victim")} ${verb}`} rows=${rows} columns=${[
    { title: "Victim", name: true, cell: (v) => v.key },
    ...(queues ? [{ title: "Queue", name: true, cell: (v) => v.clusterQueue || "–" }] : [
      { title: "Unit", cell: (v) => (v.unit ? html`<${UnitLink} unit=${v.unit} />` : "–") }, { title: "Node", name: true, cell: (v) => v.node || "–" }]),
    { title: "Priority", number: true, cell: (v) => v.priority ?? "–" },
    ...(queues ? [] : [{ title: "Budget", cell: (v) => (v.violatesBudget ? html`<span class="tag bad">broken</span>` : "kept") }]),
    { title: "Why", wide: true, cell: (v) => v.reason },
  ]} />${more(list.length, "victims")}`;
}

export function Reprieved({ list }) {
  const [limit, more] = useMore(STEP);
  if (!list || !list.length) return null;
  return html`<${Table} shown caption=${`${plural(list.length, "unit")} reprieved: could have gone, and stay${list.length === 1 ? "s" : ""}`}
    rows=${list.slice(0, limit).map((r) => ({ key: r.unit, ...r }))} columns=${[
      { title: "Unit", cell: (r) => html`<${UnitLink} unit=${r.unit} />` },
      { title: "Nodes", cell: (r) => (r.nodes || []).join(", ") || "–" },
      { title: "Priority", number: true, cell: (r) => r.priority },
      { title: "Why it stays", wide: true, cell: (r) => r.reason },
    ]} />${more(list.length, "units")}`;
}

export function Budgets({ list }) {
  if (!list || !list.length) return null;
  return html`<h3>What the budgets say</h3><ul class="reasons">${list.map((b) => html`<li>${b.sentence}</li>`)}</ul>`;
}

export function Placements({ placements, caption }) {
  const [limit, more] = useMore(STEP);
  const rows = Object.entries(placements || {}).map(([pod, node]) => ({ key: pod, pod, node }));
  if (!rows.length) return null;
  return html`<${Table} shown caption=${caption} rows=${rows.slice(0, limit)} columns=${[
    { title: "Pod", name: true, cell: (p) => p.pod }, { title: "Node", name: true, cell: (p) => p.node }]} />
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
    a.victims.length ? `${a.victims.join(", ")} would make way` : "nobody would have to go"}${cost(a)}</li>`)}</ul>`;
}
