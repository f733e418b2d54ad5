// Pod groups: how many of their pods run, and how they may be disrupted. A tree of groups is one row that unfolds.
import { html } from "../vendor/htm-preact.js";
import { link } from "../live.js";
import { thousands, keyNamespace, mine, plural } from "../lib.js";
import { Empty, Find, Fold, Told, UnitLink, unfolding, useMore } from "../parts.js";
import { Table } from "../table.js";

const needs = (g) => (g.kind === "CompositePodGroup" ? `${g.minGroups} of ${plural(g.groups, "group")}` : g.gang ? `${g.minCount} at once` : "any");
const where = (g) => (g.topology ? ` in one ${g.topology.split("/").pop().split("-").pop()}` : "");

// A tree as rows: the root, and what is below it once it is unfolded.
function unfolded(tree, open) {
  const rows = [{ key: `tree ${tree.group}`, ...tree }];
  if (open.has(tree.group)) rows.push(...tree.rows.map((row) => ({ key: `${tree.group} ${row.kind} ${row.group}`, ...row })));
  return rows;
}

const Story = ({ row }) => html`<${UnitLink} unit=${`${row.kind || "PodGroup"}/${row.group}`} text=${row.group} />`;

// A composite group has no pods of its own to show on the map.
const Nodes = ({ row }) => (row.kind === "CompositePodGroup" ? html`<span title=${row.nodeNames.join(", ")}>${row.nodes}</span>`
  : html`<a href=${link("map", { group: row.group })} title=${`Where it runs: ${row.nodeNames.join(", ")}`}>${row.nodes}</a>`);

function First({ row, open, toggle }) {
  if (row.kind === "CompositePodGroup" && row.depth === 0) {
    const isOpen = open.has(row.group);
    return html`<span class="tree-root"><${Fold} open=${isOpen} label=${`Groups of ${row.group}`} onToggle=${() => toggle(row.group)} /><${Story} row=${row} /><span class="tag">tree</span></span>`;
  }
  const shown = html`<${Story} row=${row} />`;
  return row.depth ? html`<span class="branch" style=${{ paddingLeft: `${1.4 * row.depth + 0.6}em` }}>${shown}</span>` : shown;
}

export function GroupsView({ state, params }) {
  const { find: filter = "" } = params;
  const [limit, more] = useMore(100);
  const [open, toggle] = unfolding(params);
  const { groups } = state.summary;
  if (!state.groups.length && !state.trees.length) return html`<${Empty}>No pod groups. Create one with <code>kubectl apply -f examples/01-first-plan</code>.<//>`;
  const inTree = (t) => t.group.includes(filter) || t.rows.some((row) => row.group.includes(filter));
  const owned = (g) => mine(params, keyNamespace(g.group), g.team);
  const matching = [...state.trees.filter((t) => inTree(t) && owned(t)), ...state.groups.filter((g) => g.group.includes(filter) && owned(g))];
  const rows = matching.slice(0, limit).flatMap((g) => (g.rows ? unfolded(g, open) : [{ key: g.group, ...g }]));
  return html`
    <div class="toolbar"><${Find} what="a group" value=${filter} />
      ${groups > state.groups.length && html`<span class="note">${thousands(state.groups.length)} of ${thousands(groups)} groups, those that wait first.</span>`}</div>
    ${!matching.length && html`<${Empty}>${filter ? `No group's name contains “${filter}”.` : "This namespace or team has no groups."}<//>`}
    ${matching.length > 0 && html`<${Table} caption="Pod groups" rows=${rows} columns=${[
      { title: "Group", cell: (g) => html`<${First} row=${g} open=${open} toggle=${toggle} />` },
      { title: "Priority", number: true, cell: (g) => g.priority },
      { title: "Running", number: true, cell: (g) => g.running },
      { title: "Pending", number: true, cell: (g) => g.pending },
      { title: "Leaving", number: true, cell: (g) => g.leaving },
      { title: "Needs", cell: (g) => html`<span class="name">${needs(g)}${where(g)}</span>` },
      { title: "Disrupted", cell: (g) => html`<span class="name">${g.whole ? "as a whole" : g.kind === "CompositePodGroup" ? "group by group" : "pod by pod"}</span>` },
      { title: "Nodes", number: true, cell: (g) => html`<${Nodes} row=${g} />` },
      { title: "State", wide: true, cell: (g) => (g.condition || g.message ? html`<${Told} text=${[g.condition, g.message].filter(Boolean).join(": ")} />` : "") || (g.hidden && open.has(g.group) ? `${plural(g.hidden, "more group")} not shown` : "–") },
    ]} />`}
    ${more(matching.length, "groups")}`;
}
