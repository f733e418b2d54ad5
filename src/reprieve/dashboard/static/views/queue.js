// Who waits, for how long, and for what: one line a unit, most important first.
import { html, Table, Empty, age } from "../lib.js";

export function QueueView({ state }) {
  if (!state.queue.length) return html`<${Empty}>Nobody waits: every pod has its place.<//>`;
  return html`<${Table} caption="Waiting units, in the order they are tried" rows=${state.queue.map((u) => ({ key: u.unit, ...u }))} columns=${[
    { title: "Unit", cell: (u) => u.unit },
    { title: "Priority", number: true, cell: (u) => u.priority },
    { title: "Pods", number: true, cell: (u) => u.pods },
    { title: "Waiting", number: true, cell: (u) => age(u.since) },
    { title: "Nominated to", cell: (u) => u.nominated.join(", ") || "–" },
    { title: "Why", wide: true, cell: (u) => u.why || "not tried yet" },
  ]} />`;
}
