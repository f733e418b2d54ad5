// Nodes with their pods by priority. Few nodes: one card each. Many: one tile a pool, then zoom.
import { html, useState, useEffect, useLayoutEffect, useMemo, useRef, getJSON, amount, age, percent, plural,
  Stack, Legend, Empty, Problem, Table, bandClass } from "../lib.js";

const CARDS_AT_MOST = 300;

function poolOf(node) {
  return node.zone || node.name.replace(/[-.]?\d+$/, "") || "nodes";
}

function pools(nodes) {
  const found = new Map();
  for (const node of nodes) {
    const name = poolOf(node);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(node);
  }
  return [...found.entries()].map(([name, members]) => ({ name, members })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

const mean = (members, f) => members.reduce((sum, n) => sum + f(n), 0) / members.length;

// One pixel block a node, darker the fuller; read by people, described by the tile's text for everyone else.
function Heat({ members }) {
  const canvas = useRef();
  useLayoutEffect(() => {
    const columns = Math.ceil(Math.sqrt(members.length * 2.2));
    const rows = Math.ceil(members.length / columns);
    const c = canvas.current, size = 6;
    c.width = columns * size; c.height = rows * size;
    const g = c.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const full = style.getPropertyValue("--heat").trim(), off = style.getPropertyValue("--bad").trim();
    members.forEach((node, i) => {
      g.globalAlpha = node.ready ? 0.12 + 0.88 * Math.min(1, node.used) : 1;
      g.fillStyle = node.ready ? full : off;
      g.fillRect((i % columns) * size, Math.floor(i / columns) * size, size - 1, size - 1);
    });
  }, [members]);
  return html`<canvas ref=${canvas} class="heat" aria-hidden="true"></canvas>`;
}

function Tile({ pool, bands, onOpen }) {
  const { name, members } = pool;
  const shares = bands.map((_, i) => mean(members, (n) => n.bands[i] || 0));
  const nominated = members.reduce((s, n) => s + n.nominated, 0);
  const used = mean(members, (n) => n.used);
  return html`<button class="tile" onClick=${onOpen}>
    <strong>${name}</strong><span>${plural(members.length, "node")}, ${percent(used)} used</span>
    <${Stack} shares=${shares} bands=${bands} label=${`${percent(used)} used`} />
    <${Heat} members=${members} />
    ${nominated > 0 && html`<span class="tag">${plural(nominated, "nomination")}</span>`}
  </button>`;
}

function Card({ node, bands, picked, onPick }) {
  const marks = [!node.ready && "not ready", node.cordoned && "cordoned",
    node.nominated > 0 && plural(node.nominated, "nomination"), node.terminating > 0 && `${node.terminating} leaving`].filter(Boolean);
  return html`<button class=${`card ${node.ready ? "" : "down"}`} aria-pressed=${picked} onClick=${onPick}>
    <span class="card-name">${node.name}</span>
    <${Stack} shares=${node.bands} bands=${bands} label=${`${percent(node.used)} used`} />
    <span class="card-foot">${plural(node.pods, "pod")} · ${percent(node.used)}</span>
    ${marks.length > 0 && html`<span class="marks">${marks.map((m) => html`<span class="tag">${m}</span>`)}</span>`}
  </button>`;
}

function NodeDetail({ name, revision, bands, onClose }) {
  const [detail, setDetail] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    getJSON(`api/nodes/${encodeURIComponent(name)}`).then((d) => { setDetail(d); setError(null); }, (e) => setError(e.message));
  }, [name, revision]);
  return html`<section class="detail" aria-label=${`Node ${name}`}>
    <div class="detail-head"><h2>${name}</h2><button onClick=${onClose}>Close</button></div>
    ${error && html`<${Problem} error=${error} hint="The node may be gone; close this panel and pick another." />`}
    ${detail && html`
      <div class="bars">${detail.resources.map((r) => html`<div class="bar-row"><span>${r.name}</span>
        <span class="meter"><span style=${{ width: `${r.allocatable ? Math.min(100, (100 * r.used) / r.allocatable) : 0}%` }}></span></span>
        <span>${amount(r.name, r.used)} of ${amount(r.name, r.allocatable)}</span></div>`)}</div>
      <${Table} caption=${plural(detail.pods.length, "pod")} rows=${detail.pods.map((p) => ({ key: p.pod, ...p }))} columns=${[
        { title: "Pod", cell: (p) => html`<span class=${`swatch ${bandClass(bands.indexOf(p.priority), bands.length)}`}></span>${p.pod}` },
        { title: "Priority", number: true, cell: (p) => p.priority },
        { title: "Group", cell: (p) => p.group || "–" },
        { title: "Requests", cell: (p) => Object.entries(p.requests).map(([r, n]) => `${r} ${amount(r, n)}`).join(", ") || "–" },
        { title: "State", cell: (p) => (p.nominated ? "nominated" : p.terminating ? "leaving" : p.phase) },
        { title: "Age", number: true, cell: (p) => age(p.started || p.created) },
      ]} />`}
  </section>`;
}

export function MapView({ state, path }) {
  const { nodes, bands } = state;
  const grouped = useMemo(() => pools(nodes), [nodes]);
  const [filter, setFilter] = useState("");
  const [picked, setPicked] = useState(null);
  const pool = path[0] === "pool" ? decodeURIComponent(path.slice(1).join("/")) : null;
  if (!nodes.length) return html`<${Empty}>No nodes yet. Start some with <code>reprieve up --nodes 4</code> or wait for the first to register.<//>`;
  const tiles = !pool && nodes.length > CARDS_AT_MOST && !filter;
  const matching = (pool ? nodes.filter((n) => poolOf(n) === pool) : nodes).filter((n) => n.name.includes(filter));
  const shown = matching.slice(0, CARDS_AT_MOST);
  return html`
    <div class="toolbar">
      ${pool && html`<a href="#/map">← all pools</a><strong>${pool}</strong>`}
      <label>Find a node <input type="search" value=${filter} onInput=${(e) => setFilter(e.target.value)} placeholder="part of its name" /></label>
      <${Legend} bands=${bands} />
    </div>
    ${picked && html`<${NodeDetail} name=${picked} revision=${state.revision} bands=${bands} onClose=${() => setPicked(null)} />`}
    ${tiles
      ? html`<div class="tiles">${grouped.map((p) => html`<${Tile} key=${p.name} pool=${p} bands=${bands}
          onOpen=${() => { location.hash = `#/map/pool/${encodeURIComponent(p.name)}`; }} />`)}</div>`
      : html`<div class="cards">${shown.map((n) => html`<${Card} key=${n.name} node=${n} bands=${bands}
          picked=${n.name === picked} onPick=${() => setPicked(n.name)} />`)}</div>
        ${!shown.length && html`<${Empty}>No node's name contains “${filter}”.<//>`}
        ${matching.length > shown.length && html`<p class="note">${shown.length} of ${matching.length} nodes shown. Type a part of a name to narrow it down.</p>`}`}`;
}
