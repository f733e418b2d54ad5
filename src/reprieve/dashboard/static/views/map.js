// Nodes with their pods, by priority or by group. Few nodes: one card each. Many: one tile a pool, then zoom.
import { html, useState, useEffect, useLayoutEffect, useMemo, useRef } from "../vendor/htm-preact.js";
import { getJSON, amount, amounts, age, percent, plural, bandClass, groupClass } from "../lib.js";
import { link, go } from "../live.js";
import { Stack, Empty, Problem, Panel, Table, useMore } from "../parts.js";

const CARDS_AT_ONCE = 300;
const LEGEND_GROUPS = 10;

const poolOf = (node) => node.rack || node.zone || node.name.replace(/[-.]?\d+$/, "") || "nodes";

function pools(nodes) {
  const found = new Map();
  for (const node of nodes) {
    const name = poolOf(node);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(node);
  }
  return [...found.entries()].map(([name, members]) => ({ name, members })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

// Nodes with racks stand rack by rack, others all together, after them.
function shelves(nodes) {
  const found = new Map();
  for (const node of nodes) found.set(node.rack, [...(found.get(node.rack) || []), node]);
  const count = new Intl.Collator("en", { numeric: true });
  return [...found.entries()].map(([name, members]) => ({ name, members })).sort((a, b) => !a.name - !b.name || count.compare(a.name, b.name));
}

const rackLine = (members) => `${plural(members.length, "node")}, ${percent(members.reduce((sum, n) => sum + n.used, 0) / members.length)} used`;

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

// One block a node, darker the fuller; read by people, described by the tile's text for everyone else.
function Heat({ members, group }) {
  const canvas = useRef();
  useLayoutEffect(() => {
    const columns = Math.ceil(Math.sqrt(members.length * 2.2));
    const c = canvas.current, size = 6;
    c.width = columns * size; c.height = Math.ceil(members.length / columns) * size;
    const g = c.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const [full, off, nominated] = ["--heat", "--bad", "--borrowed"].map((name) => style.getPropertyValue(name).trim());
    members.forEach((node, i) => {
      const dim = group && !node.shares.some(([, g2]) => g2 === group);
      g.globalAlpha = dim ? 0.08 : node.ready ? 0.12 + 0.88 * Math.min(1, node.used) : 1;
      g.fillStyle = node.ready ? (node.nominated ? nominated : full) : off;
      g.fillRect((i % columns) * size, Math.floor(i / columns) * size, size - 1, size - 1);
    });
  }, [members, group]);
  return html`<canvas ref=${canvas} class="heat" aria-hidden="true"></canvas>`;
}

function Tile({ pool, colour, bands, group }) {
  const { name, members } = pool;
  const count = (f) => members.reduce((sum, node) => sum + f(node), 0);
  const used = count((n) => n.used) / members.length, nominated = count((n) => n.nominated), down = count((n) => !n.ready);
  return html`<a class="tile" href=${link("map", { pool: name, group })}>
    <strong>${name}</strong><span>${plural(members.length, "node")}, ${percent(used)} used, ${plural(count((n) => n.pods), "pod")}</span>
    <${Stack} segments=${segments(members, colour, bands)} label=${`${percent(used)} used`} />
    <${Heat} members=${members} group=${group} />
    ${nominated + down > 0 && html`<span class="marks">${nominated > 0 && html`<span class="tag nominated">${plural(nominated, "nomination")}</span>`}
      ${down > 0 && html`<span class="tag bad">${down} not ready</span>`}</span>`}
  </a>`;
}

function Card({ node, colour, bands, picked, href, dim }) {
  const free = amounts(node.free) || "nothing";
  return html`<a class=${`card ${node.ready ? "" : "down"} ${dim ? "dim" : ""}`} href=${href} aria-current=${picked ? "true" : null}>
    <span class="card-name">${node.name}</span>
    <${Stack} segments=${segments([node], colour, bands)} label=${`${percent(node.used)} of ${node.resource} used`} />
    <span class="card-foot">${plural(node.pods, "pod")} · ${node.resource} ${percent(node.used)}</span>
    <span class="card-foot">free: ${free}</span>
    <span class="marks">
      ${!node.ready && html`<span class="tag bad">not ready</span>`}${node.cordoned && html`<span class="tag">cordoned</span>`}
      ${node.nominated > 0 && html`<span class="tag nominated">${plural(node.nominated, "nomination")}</span>`}
      ${node.terminating > 0 && html`<span class="tag">${node.terminating} leaving</span>`}</span>
  </a>`;
}

function NodeDetail({ name, revision, bands, onClose }) {
  const [detail, setDetail] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let gone = false;
    getJSON(`api/nodes/${encodeURIComponent(name)}`).then((d) => { if (!gone) { setDetail(d); setError(null); } }, (e) => { if (!gone) setError(e.message); });
    return () => { gone = true; };
  }, [name, revision]);
  const d = detail && detail.name === name ? detail : null;
  return html`<${Panel} label=${`Node ${name}`} title=${name} onClose=${onClose}>
    ${error && html`<${Problem} error=${error} hint="The node may be gone; close this panel and pick another." />`}
    ${d && html`
      <p class="note">${[d.zone && `zone ${d.zone}`, d.rack && `rack ${d.rack}`, d.ready ? "ready" : "not ready", d.cordoned && "cordoned"].filter(Boolean).join(" · ")}</p>
      ${d.resources.map((r) => html`<div class="bar-row"><span>${r.name}</span>
        <span class="meter"><span style=${{ width: `${r.allocatable ? Math.min(100, (100 * r.used) / r.allocatable) : 0}%` }}></span></span>
        <span>${amount(r.name, r.used)} of ${amount(r.name, r.allocatable)} used, ${amount(r.name, Math.max(0, r.allocatable - r.used))} free</span></div>`)}
      ${!d.pods.length && html`<${Empty}>No pods here.<//>`}
      ${d.pods.length > 0 && html`<${Table} shown caption=${plural(d.pods.length, "pod")} rows=${d.pods.map((p) => ({ key: p.pod, ...p }))} columns=${[
        { title: "Pod", cell: (p) => html`<span class=${p.pod.length > 32 ? "long-name" : "name"}><span class=${`swatch ${bandClass(bands.indexOf(p.priority), bands.length)}`}></span>${p.pod}</span>` },
        { title: "Priority", number: true, cell: (p) => p.priority },
        { title: "Group", cell: (p) => (p.group ? html`<a href=${link("map", { group: p.group })}><span class=${`swatch ${groupClass(p.group)}`}></span>${p.group}</a>` : "–") },
        { title: "Requests", cell: (p) => amounts(p.requests) || "–" },
        { title: "State", cell: (p) => (p.nominated ? html`<span class="tag nominated">nominated</span>` : p.terminating ? html`<span class="tag">leaving</span>` : p.phase) },
        { title: "Age", number: true, cell: (p) => age(p.started || p.created) },
      ]} />`}`}
  <//>`;
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

export function MapView({ state, params }) {
  const { nodes, bands } = state;
  const { pool, node: picked, group } = params;
  const grouped = useMemo(() => pools(nodes), [nodes]);
  const [filter, setFilter] = useState("");
  const [chosen, setColour] = useState("priority");
  const [limit, more] = useMore(CARDS_AT_ONCE);
  const colour = group ? "group" : chosen;
  if (!nodes.length) return html`<${Empty}>No nodes yet. Start some with <code>reprieve up</code>, or wait for the first to register.<//>`;
  const holds = (n) => !group || n.shares.some(([, g]) => g === group);
  const tiles = !pool && nodes.length > CARDS_AT_ONCE && !filter;
  const matching = nodes.filter((n) => (!pool || poolOf(n) === pool) && n.name.includes(filter));
  return html`<div class=${picked ? "beside" : ""}>
    <div class="toolbar">
      ${pool && html`<span><a href=${link("map", { group })}>← all pools</a> <strong>${pool}</strong></span>`}
      <label>Find a node <input type="search" value=${filter} onInput=${(e) => setFilter(e.target.value)} placeholder="part of its name" /></label>
      <label>Colour by <select value=${colour} onChange=${(e) => { setColour(e.target.value); if (group) go("map", { ...params, group: "" }); }}>
        <option value="priority">priority</option><option value="group">group</option></select></label>
      <${Legend} nodes=${nodes} colour=${colour} bands=${bands} params=${params} />
    </div>
    ${group && html`<p class="note">Only nodes with pods of group <strong class="breaks">${group}</strong> stand out (${nodes.filter(holds).length} of ${nodes.length}). ${""}
      <a href=${link("map", { pool })}>Show all alike</a></p>`}
    ${tiles
      ? html`<div class="tiles">${grouped.slice(0, CARDS_AT_ONCE).map((p) => html`<${Tile} key=${p.name} pool=${p} colour=${colour} bands=${bands} group=${group} />`)}</div>`
      : html`${shelves(matching.slice(0, limit)).map(({ name, members }) => html`<section key=${name} class="shelf" aria-label=${name ? `rack ${name}` : "nodes"}>
          ${name && html`<h2 class="rack">rack ${name} <span class="note">${rackLine(members)}</span></h2>`}
          <div class="cards">${members.map((n) => html`<${Card} key=${n.name} node=${n} colour=${colour} bands=${bands}
            picked=${n.name === picked} dim=${!holds(n)} href=${link("map", { ...params, node: n.name })} />`)}</div></section>`)}
        ${!matching.length && html`<${Empty}>${filter ? `No node's name contains “${filter}”.` : `There is no pool “${pool}” any more.`}<//>`}
        ${more(matching.length, "nodes")}`}
    ${picked && html`<${NodeDetail} key=${picked} name=${picked} revision=${state.revision} bands=${bands} onClose=${() => go("map", { pool, group })} />`}
  </div>`;
}
