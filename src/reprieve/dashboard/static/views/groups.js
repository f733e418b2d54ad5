// Pod groups: how many of their pods run, and how they may be disrupted.
import { html, useState } from "../vendor/htm-preact.js";
import { link } from "../live.js";
import { Table, Empty, Name, useMore } from "../parts.js";

export function GroupsView({ state }) {
  const [filter, setFilter] = useState("");
  const [limit, more] = useMore(100);
  const { groups } = state.summary;
  if (!state.groups.length) return html`<${Empty}>No pod groups. Create one with <code>kubectl apply -f examples/01-first-plan</code>.<//>`;
  const matching = state.groups.filter((g) => g.group.includes(filter));
  return html`
    <div class="toolbar"><label>Find a group <input type="search" value=${filter} onInput=${(e) => setFilter(e.target.value)} placeholder="part of its name" /></label>
      ${groups > state.groups.length && html`<span class="note">${state.groups.length.toLocaleString("en")} of ${groups.toLocaleString("en")} groups, those that wait first.</span>`}</div>
    ${!matching.length && html`<${Empty}>No group's name contains “${filter}”.<//>`}
    ${matching.length > 0 && html`<${Table} caption="Pod groups" rows=${matching.slice(0, limit).map((g) => ({ key: g.group, ...g }))} columns=${[
      { title: "Group", cell: (g) => html`<a href=${link("map", { group: g.group })} title="Where it runs"><${Name}>${g.group}<//></a>` },
      { title: "Priority", number: true, cell: (g) => g.priority },
      { title: "Running", number: true, cell: (g) => g.running },
      { title: "Pending", number: true, cell: (g) => g.pending },
      { title: "Leaving", number: true, cell: (g) => g.leaving },
      { title: "Needs", cell: (g) => html`<span class="name">${g.gang ? `${g.minCount} at once` : "any"}</span>` },
      { title: "Disrupted", cell: (g) => html`<span class="name">${g.whole ? "as a whole" : "pod by pod"}</span>` },
      { title: "Nodes", number: true, cell: (g) => html`<span title=${g.nodeNames.join(", ")}>${g.nodes}</span>` },
      { title: "State", wide: true, cell: (g) => [g.condition, g.message].filter(Boolean).join(": ") || "–" },
    ]} />`}
    ${more(matching.length, "groups")}`;
}
