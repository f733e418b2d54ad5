// Nodes with their pods, by priority or by group. Few nodes: one card each. Many: a heat map by pool, zone or rack, then zoom.
import { html, useMemo } from "../vendor/htm-preact.js";
import { amount, amounts, bandClass, groupClass, thousands, percent, plural, shortName } from "../lib.js";
import { link, go, refine } from "../live.js";
import { Stack, Empty, Find, useMore } from "../parts.js";
import { Heat } from "./heat.js";
import { NodeDetail } from "./node.js";

const CARDS_AT_ONCE = 300;
const LEGEND_GROUPS = 10;

const stem = (node) => node.name.replace(/[-.]?\d+$/, "") || "nodes";
const WAYS = { pool: (n) => n.pool || stem(n), zone: (n) => n.zone || "no zone", rack: (n) => n.rack || "no rack" };

// What the nodes are labelled with; without any label, their names.
function ways(nodes) {
  const found = ["pool", "zone", "rack"].filter((way) => nodes.some((n) => n[way]));
  return found.length ? found : ["pool"];
}

const byCount = new Intl.Collator("en", { numeric: true });

function pools(nodes, way) {
  const found = new Map();
  for (const node of nodes) {
    const name = WAYS[way](node);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(node);
  }
  return [...found.entries()].map(([name, members]) => ({ name, members })).sort((a, b) => byCount.compare(a.name, b.name));
}

// Nodes that are labelled stand together, the others after them.
function shelves(nodes, way) {
  const found = new Map();
  for (const node of nodes) {
    const name = way ? node[way] : "";
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(node);
  }
  return [...found.entries()].map(([name, members]) => ({ name, members })).sort((a, b) => !a.name - !b.name || byCount.compare(a.name, b.name));
}

// “rack r3”, but not “rack a100-rack-0”.
const heading = (way, name) => (name.includes(way) ? name : `${way} ${name}`);

const shelfLine = (members) => `${plural(members.length, "node")}, ${percent(members.reduce((sum, n) => sum + n.used, 0) / members.length)} used`;

// Shares of one node or of a whole pool, added up by what they are coloured by: [class, share, title].
function segments(nodes, colour, bands) {
  const sums = new Map();
  for (const node of nodes) {
    for (const [priority, group, share] of node.shares) {
      const key = colour === "group" ? group : priority;
      sums.set(key, (sums.get(key) || 0) + share / nodes.length);
    }
  }
  const entries = [...sums.entries()];
  if (colour === "group") return entries.sort((a, b) => b[1] - a[1]).map(([g, share]) => [groupClass(g), share, g || "no group"]);
  return entries.sort((a, b) => a[0] - b[0]).map(([p, share]) => [bandClass(bands.indexOf(p), bands.length), share, `priority ${p}`]);
}

const within = (members) => [["zone", "zones"], ["rack", "racks"]].map(([key, word]) => [new Set(members.map((n) => n[key]).filter(Boolean)).size, word])
  .filter(([number]) => number > 1).map(([number, word]) => `${number} ${word}`).join(", ");

function Tile({ pool, way, colour, bands, params, stands }) {
  const { name, members } = pool;
  const count = (f) => members.reduce((sum, node) => sum + f(node), 0);
  const used = count((n) => n.used) / members.length, nominated = count((n) => n.nominated), down = count((n) => !n.ready);
  const parts = within(members);
  return html`<a class="tile" href=${link("map", { ...params, by: way, pool: name })}>
    <strong>${name}</strong><span>${plural(members.length, "node")}, ${percent(used)} used, ${plural(count((n) => n.pods), "pod")}${parts && `; ${parts}`}</span>
    <${Stack} segments=${segments(members, colour, bands)} label=${`${percent(used)} used`} />
    <${Heat} members=${members} stands=${stands} />
    ${nominated + down > 0 && html`<span class="marks">${nominated > 0 && html`<span class="tag nominated">${plural(nominated, "nomination")}</span>`}
      ${down > 0 && html`<span class="tag bad">${down} not ready</span>`}</span>`}
  </a>`;
}

// What is scarce first; the rest of what a node has is on its own page.
const minor = (resource) => resource === "ephemeral-storage" || resource.startsWith("hugepages-");
const rare = (resource) => resource.includes("/") || resource.includes(".");

function Card({ node, colour, bands, picked, href, dim }) {
  const left = Object.entries(node.free).filter(([r, n]) => n && !minor(r)).sort(([a], [b]) => rare(b) - rare(a));
  const free = left.map(([r, n]) => `${amount(r, n)}\u00a0${shortName(r)}`).join(", ") || "nothing";
  return html`<a class=${`card ${node.ready ? "" : "down"} ${dim ? "dim" : ""}`} href=${href} aria-current=${picked ? "true" : null}>
    <span class="card-name">${node.name}</span>
    <${Stack} segments=${segments([node], colour, bands)} label=${`${percent(node.used)} of ${node.resource} used`} />
    <span class="card-foot" title=${node.resource}>${plural(node.pods, "pod").replace(" ", "\u00a0")} · ${shortName(node.resource)}\u00a0${percent(node.used)}</span>
    <span class="card-foot" title=${amounts(node.free)}>free: ${free}</span>
    <span class="marks">
      ${!node.ready && html`<span class="tag bad">not ready</span>`}${node.cordoned && html`<span class="tag">cordoned</span>`}
      ${node.nominated > 0 && html`<span class="tag nominated">${plural(node.nominated, "nomination")}</span>`}
      ${node.terminating > 0 && html`<span class="tag">${node.terminating} leaving</span>`}</span>
  </a>`;
}

function Legend({ nodes, colour, bands, params }) {
  const biggest = useMemo(() => (colour === "group" ? segments(nodes, "group", bands).slice(0, LEGEND_GROUPS) : []), [nodes, colour]);
  if (colour === "priority") {
    return html`<ul class="legend" aria-label="Priorities">${bands.map((p, i) => html`<li><span class=${`swatch ${bandClass(i, bands.length)}`}></span>${p}</li>`)}
      <li><span class="swatch"></span>free</li></ul>`;
  }
  return html`<ul class="legend" aria-label="Groups">${biggest.map(([kind, , name]) => html`<li><span class=${`swatch ${kind}`}></span>${
    name === "no group" ? name : html`<a href=${link("map", { ...params, group: name })}>${name}</a>`}</li>`)}<li><span class="swatch"></span>free</li></ul>`;
}

const NoNodes = ({ state }) => (state.fleet.clusters.length
  ? html`<${Empty}>This is a manager: pods run in its ${plural(state.fleet.clusters.length, "worker cluster")}. <a href=${link("fleet")}>Fleet</a> shows which workload runs where, and leads to the workers' own pages.<//>`
  : html`<${Empty}>No nodes yet. Start some with <code>reprieve up</code>, or wait for the first to register.<//>`);

export function MapView({ state, params }) {
  const { nodes, bands } = state;
  const { pool, node: picked, group, find = "", ns, team } = params;
  const choices = useMemo(() => ways(nodes), [nodes]);
  const labelled = choices.filter((c) => nodes.some((n) => n[c]));
  const tiles = nodes.length > CARDS_AT_ONCE && !pool && !find;
  const way = WAYS[params.by] ? params.by : choices[0];
  const shelf = labelled.includes(params.by) && !pool ? params.by : labelled.includes("rack") ? "rack" : "";
  const [limit, more] = useMore(CARDS_AT_ONCE);
  const colour = group ? "group" : params.colour === "group" ? "group" : "priority";
  const grouped = useMemo(() => (tiles ? pools(nodes, way) : []), [nodes, way, tiles]);
  if (!nodes.length) return html`<${NoNodes} state=${state} />`;
  const stands = (n) => (!group || n.shares.some(([, g]) => g === group)) && (!ns || n.namespaces.includes(ns)) && (!team || n.teams.includes(team));
  const matching = tiles ? [] : nodes.filter((n) => (!pool || WAYS[way](n) === pool) && n.name.includes(find));
  const chosen = group ? html`pods of group <strong class="breaks">${group}</strong>` : [ns && `pods of namespace ${ns}`, team && `pods of team ${team}`].filter(Boolean).join(" and ");
  return html`<div>
    <div class="toolbar">
      ${pool && html`<span><a href=${link("map", { ...params, pool: "", node: "" })}>← all pools</a> <strong>${pool}</strong></span>`}
      <${Find} what="a node" value=${find} />
      <label>Colour by <select value=${colour} onChange=${(e) => refine({ colour: e.target.value, group: "" })}>
        <option value="priority">priority</option><option value="group">group</option></select></label>
      ${!pool && choices.length > 1 && html`<label>Together by <select value=${tiles ? way : shelf} onChange=${(e) => refine({ by: e.target.value })}>${choices.map((c) => html`<option value=${c}>${c}</option>`)}</select></label>`}
      <${Legend} nodes=${nodes} colour=${colour} bands=${bands} params=${params} />
    </div>
    ${(group || ns || team) && html`<p class="note">Only nodes with ${chosen} stand out (${nodes.filter(stands).length} of ${nodes.length}). ${""}
      <a href=${link("map", { pool, by: params.by, ns: "", team: "" })}>Show all alike</a></p>`}
    ${tiles && html`<p class="note">Each block is a node, the stronger its colour the fuller; orange: set aside for a waiting pod; red: not ready. Choose a block for the node, a title for its nodes as cards.</p>`}
    ${tiles
      ? html`<div class="tiles">${grouped.slice(0, CARDS_AT_ONCE).map((p) => html`<${Tile} key=${p.name} pool=${p} way=${way} colour=${colour} bands=${bands} params=${params} stands=${stands} />`)}</div>
        ${grouped.length > CARDS_AT_ONCE && html`<p class="note more">The first ${CARDS_AT_ONCE} of ${thousands(grouped.length)}.</p>`}`
      : html`<div class=${shelf === "rack" ? "racks" : ""}>${shelves(matching.slice(0, limit), shelf).map(({ name, members }) => html`<section key=${name} class="shelf" aria-label=${name ? heading(shelf, name) : "nodes"}>
          ${name ? html`<h2 class="rack">${heading(shelf, name)} <span class="note">${shelfLine(members)}</span></h2>`
            : shelf && html`<h2 class="rack">in no ${shelf} <span class="note">${shelfLine(members)}</span></h2>`}
          <div class="cards">${members.map((n) => html`<${Card} key=${n.name} node=${n} colour=${colour} bands=${bands}
            picked=${n.name === picked} dim=${!stands(n)} href=${link("map", { ...params, node: n.name })} />`)}</div></section>`)}</div>
        ${!matching.length && html`<${Empty}>${find ? `No node's name contains “${find}”.` : `There is no pool “${pool}” any more.`}<//>`}
        ${more(matching.length, "nodes")}`}
    ${picked && html`<${NodeDetail} key=${picked} name=${picked} revision=${state.revision} bands=${bands} onClose=${() => go("map", { ...params, node: "" })} />`}
  </div>`;
}
