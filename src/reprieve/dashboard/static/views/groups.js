// Pod groups: how many of their pods run, and how they may be disrupted.
import { html, Table, Empty } from "../lib.js";

export function GroupsView({ state }) {
  if (!state.groups.length) return html`<${Empty}>No pod groups. Create one with <code>kubectl apply -f examples/01-first-plan</code>.<//>`;
  return html`<${Table} caption="Pod groups" rows=${state.groups.map((g) => ({ key: g.group, ...g }))} columns=${[
    { title: "Group", cell: (g) => g.group },
    { title: "Priority", number: true, cell: (g) => g.priority },
    { title: "Running", number: true, cell: (g) => g.running },
    { title: "Pending", number: true, cell: (g) => g.pending },
    { title: "Needs", cell: (g) => (g.gang ? `${g.minCount} at once` : "any") },
    { title: "Disrupted", cell: (g) => (g.whole ? "as a whole" : "pod by pod") },
    { title: "Nodes", number: true, cell: (g) => g.nodes },
    { title: "State", wide: true, cell: (g) => [g.condition, g.message].filter(Boolean).join(": ") || "–" },
  ]} />`;
}
