// Rows under titles. Of a long table only the rows near what can be seen are laid out while rows come and go: a hundred of them take
// a slow machine longer than a picture may. Once they stand still the others are filled in, for the browser's own search and for print.
import { html, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { Name } from "./parts.js";

const LONG = 30, STEP = 10, USUAL_HEIGHT = 37; // rows, rows, pixels
const NEAR = 300; // pixels above and below what can be seen
const CALM = 1500, BETWEEN = 60; // milliseconds without another row, and between two steps of filling in

const kindOf = (column) => (column.number ? "number" : column.wide ? "wide" : "");

// The rows near what can be seen, as far as that can be told from how tall a row is.
function near(body) {
  const box = body.getBoundingClientRect(), spaces = [...body.children].reduce((sum, row) => sum + (row.className === "far" ? row.offsetHeight : 0), 0);
  const tall = Math.max(1, (box.height - spaces) / Number(body.dataset.rows)) || USUAL_HEIGHT;
  return { from: Math.max(0, Math.floor((-box.top - NEAR) / tall / STEP) * STEP), to: Math.max(STEP, Math.ceil((innerHeight - box.top + NEAR) / tall / STEP) * STEP), tall };
}

function useNear(body, long) {
  const [range, setRange] = useState({ from: 0, to: LONG, tall: USUAL_HEIGHT });
  useLayoutEffect(() => {
    if (!long) return undefined;
    let frame = 0;
    const look = () => { frame = 0; const seen = near(body.current); setRange((now) => (now.from === seen.from && now.to === seen.to ? now : seen)); };
    const soon = () => { frame = frame || requestAnimationFrame(look); };
    const everywhere = { capture: true, passive: true }; // also where a panel scrolls
    addEventListener("scroll", soon, everywhere);
    addEventListener("resize", soon);
    soon();
    return () => { cancelAnimationFrame(frame); removeEventListener("scroll", soon, everywhere); removeEventListener("resize", soon); };
  }, [long]);
  return range;
}

// How many rows are laid out beyond those that are near: more and more once none comes or goes.
function useFilling(rows, long) {
  const keys = long ? rows.map((row) => row.key).join() : "";
  const [filled, setFilled] = useState({ keys, extra: 0 });
  const extra = filled.keys === keys ? filled.extra : 0;
  useLayoutEffect(() => {
    if (!long || extra >= rows.length) return undefined;
    const timer = setTimeout(() => setFilled({ keys, extra: extra + STEP }), extra ? BETWEEN : CALM);
    return () => clearTimeout(timer);
  }, [keys, extra]);
  return extra;
}

// One list of rows and of spaces for those that are not laid out, so that a row stays what it is when it moves. `kept`: has the focus, and keeps it.
function laidOut(rows, first, last, kept, one, space) {
  const parts = [[first, last]];
  if (kept >= last) parts.push([kept, kept + 1]);
  else if (kept >= 0 && kept < first) parts.unshift([kept, kept + 1]);
  const list = [];
  let end = 0;
  for (const [from, to] of parts) {
    if (from > end) list.push(space(from - end, from));
    list.push(...rows.slice(from, to).map((row, i) => one(row, from + i)));
    end = to;
  }
  if (end < rows.length) list.push(space(rows.length - end, "the end"));
  return list;
}

// A column: title, cell(row), number?, wide?, name? With `href` the first cell is a link to the row's details; `below` gives what is unfolded under a row.
export function Table({ caption, shown, columns, rows, href, picked, below }) {
  const body = useRef(), focused = useRef(), long = rows.length > LONG;
  const { from, to, tall } = useNear(body, long), extra = useFilling(rows, long);
  const last = long ? Math.min(rows.length, to + extra) : rows.length, first = long ? Math.max(0, Math.min(from - extra, last - STEP)) : 0;
  const active = body.current && body.current.contains(document.activeElement) ? document.activeElement : null;
  const kept = active ? rows.findIndex((row) => row.key === focused.current) : -1;
  // A row that is moved in the document loses the focus on the way.
  useLayoutEffect(() => { if (active && active.isConnected && document.activeElement !== active) active.focus({ preventScroll: true }); });
  const one = (row, index) => html`<${Row} key=${row.key} row=${row} number=${long ? index + 2 : null} columns=${columns} href=${href} picked=${row.key === picked} more=${below && below(row)}
    onFocus=${() => { focused.current = row.key; }} />`;
  const space = (count, where) => html`<tr key=${`far ${where}`} class="far" aria-hidden="true" style=${{ height: `${Math.round(count * tall)}px` }}><td colspan=${columns.length}></td></tr>`;
  return html`<div class="scroll" tabindex=${rows.length ? 0 : null} role="group" aria-label=${caption}><table role="table" aria-rowcount=${long ? rows.length + 1 : null}>
    <caption class=${shown ? "" : "quiet"}>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((c) => html`<th scope="col" role="columnheader" class=${kindOf(c)}>${c.title}</th>`)}</tr></thead>
    <tbody role="rowgroup" ref=${body} data-rows=${last - first}>${laidOut(rows, first, last, kept, one, space)}</tbody></table></div>`;
}

// A row with what is unfolded under it stays the same row when others come before it: with its focus, and for a click that has begun.
function Row({ row, number, columns, href, picked, more, onFocus }) {
  const cell = (c, i) => {
    const content = c.name ? html`<${Name}>${c.cell(row)}<//>` : c.cell(row);
    return html`<td role="cell" class=${kindOf(c)} data-title=${c.title}>${href && i === 0
      ? html`<a href=${href(row)} aria-current=${picked ? "true" : null}>${content}</a>` : content}</td>`;
  };
  return html`<tr role="row" aria-rowindex=${number} class=${picked ? "picked" : ""} onfocusin=${onFocus}>${columns.map(cell)}</tr>
    ${more && html`<tr role="row" class="unfolded" onfocusin=${onFocus}><td role="cell" colspan=${columns.length}>${more}</td></tr>`}`;
}
