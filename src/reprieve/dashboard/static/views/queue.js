// Who waits, for how long, and for what: one line a unit, most important first.
import { html, useState } from "../vendor/htm-preact.js";
import { age } from "../lib.js";
import { useSeconds } from "../live.js";
import { Table, Empty, UnitLink, useMore } from "../parts.js";

export function QueueView({ state }) {
  const now = useSeconds();
  const [filter, setFilter] = useState("");
  const [limit, more] = useMore(100);
  const { waitingUnits } = state.summary;
  if (!state.queue.length) return html`<${Empty}>Nobody waits: every pod has its place.<//>`;
  const matching = state.queue.filter((u) => u.unit.includes(filter));
  const cut = waitingUnits > state.queue.length;
  return html`
    <div class="toolbar"><label>Find a unit <input type="search" value=${filter} onInput=${(e) => setFilter(e.target.value)} placeholder="part of its name" /></label>
      ${cut && html`<span class="note">The first ${state.queue.length.toLocaleString("en")} of ${waitingUnits.toLocaleString("en")} waiting units, in the order they are tried.</span>`}</div>
    ${!matching.length && html`<${Empty}>No waiting unit's name contains “${filter}”.<//>`}
    ${matching.length > 0 && html`<${Table} caption="Waiting units, in the order they are tried" rows=${matching.slice(0, limit).map((u) => ({ key: u.unit, ...u }))}
      columns=${[
        { title: "Unit", cell: (u) => html`<${UnitLink} unit=${u.unit} />` },
        { title: "Priority", number: true, cell: (u) => u.priority },
        { title: "Pods", number: true, cell: (u) => u.pods },
        { title: "Waiting", number: true, cell: (u) => age(u.since, now) },
        { title: "Nominated to", cell: (u) => u.nominated.slice(0, 5).join(", ") + (u.nominated.length > 5 ? ` and ${u.nominated.length - 5} more` : "") || "–" },
        { title: "Why", wide: true, cell: (u) => u.why || "not tried yet" },
      ]} />`}
    ${more(matching.length, "units")}`;
}
