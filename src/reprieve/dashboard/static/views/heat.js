// Thousands of nodes as one block each, the stronger its colour the fuller, rack by rack. Drawn, not laid out: 5,000 nodes stay fluid.
// For people who point; keys and readers use the tile's link, which leads to the same nodes as cards.
import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { percent } from "../lib.js";
import { go } from "../live.js";

const CELL = 9, BETWEEN = 4, RACK_COLUMNS = 4;

// Where each node is: racks are blocks of four columns, one after the other; nodes without a rack fill lines.
function layout(members, width) {
  const racks = new Map();
  for (const node of members) {
    if (!racks.has(node.rack)) racks.set(node.rack, []);
    racks.get(node.rack).push(node);
  }
  const cells = [];
  const single = racks.size === 1;
  let x = 0, y = 0, line = 0;
  for (const nodes of racks.values()) {
    const columns = single ? Math.max(1, Math.floor(width / CELL)) : Math.min(nodes.length, RACK_COLUMNS);
    const w = columns * CELL, h = Math.ceil(nodes.length / columns) * CELL;
    if (x > 0 && x + w > width) { x = 0; y += line + BETWEEN; line = 0; }
    nodes.forEach((node, i) => cells.push({ node, x: x + (i % columns) * CELL, y: y + Math.floor(i / columns) * CELL }));
    x += w + BETWEEN; line = Math.max(line, h);
  }
  return { cells, height: y + line };
}

const css = (names) => { const style = getComputedStyle(document.documentElement); return names.map((name) => style.getPropertyValue(name).trim()); };

export function Heat({ members, stands }) {
  const canvas = useRef(), drawn = useRef();
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(canvas.current.parentElement);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!width) return;
    const { cells, height } = layout(members, width);
    const c = canvas.current, scale = devicePixelRatio || 1;
    if (c.width !== width * scale || c.height !== height * scale) { c.width = width * scale; c.height = height * scale; c.style.height = `${height}px`; }
    const g = c.getContext("2d");
    const [full, off, nominated] = css(["--heat", "--bad", "--borrowed"]);
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    for (const { node, x, y } of cells) {
      g.globalAlpha = !stands(node) ? 0.08 : node.ready ? 0.14 + 0.86 * Math.min(1, node.used) : 1;
      g.fillStyle = node.ready ? (node.nominated ? nominated : full) : off;
      g.fillRect(x, y, CELL - 1, CELL - 1);
    }
    drawn.current = cells;
  });
  const under = (event) => {
    const box = canvas.current.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    return (drawn.current || []).find((cell) => x >= cell.x && x < cell.x + CELL && y >= cell.y && y < cell.y + CELL);
  };
  const point = (event) => {
    const cell = under(event), n = cell && cell.node;
    canvas.current.title = n ? `${n.name}${n.rack ? `, rack ${n.rack}` : ""}: ${percent(n.used)} of ${n.resource} used, ${n.pods} pods${n.ready ? "" : ", not ready"}` : "";
  };
  const click = (event) => { const cell = under(event); if (cell) { event.preventDefault(); event.stopPropagation(); go("map", { node: cell.node.name }); } };
  return html`<span class="heat-box"><canvas ref=${canvas} class="heat" aria-hidden="true" onMouseMove=${point} onClick=${click}></canvas></span>`;
}
