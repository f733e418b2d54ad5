// What every view is put together from.
import { html, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { age, clock, exact, percent } from "./lib.js";
import { link, refine } from "./live.js";

// `segments`: [class, share, title] from left to right.
export function Stack({ segments, label }) {
  return html`<span class="stack" role="img" aria-label=${label}>
    ${segments.map(([kind, share, title]) => html`<span class=${kind} style=${{ width: `${Math.min(100, 100 * share)}%` }} title=${`${title}: ${percent(share)}`}></span>`)}
  </span>`;
}

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

export function Problem({ error, hint }) {
  return html`<div class="problem" role="alert"><strong>${error}</strong>${hint && html`<p>${hint}</p>`}</div>`;
}

// Short names stay on one line; a name of 253 characters breaks wherever it must.
export const Name = ({ children }) => html`<span class=${`${children}`.length > 32 ? "long-name" : "name"}>${children}</span>`;

// A moment: in short, and exactly for whoever points at it, focuses it, or reads it aloud. Inside a link it takes no focus of its own.
export function When({ iso, now, ago, plain }) {
  if (!iso) return "–";
  return html`<time class="when" dateTime=${iso} title=${exact(iso)} data-exact=${exact(iso)} tabindex=${plain ? null : 0}>${
    ago ? age(iso, now) : clock(iso)}<span class="quiet"> (${exact(iso)})</span></time>`;
}

// A filter by a part of a name; what is typed is in the address.
export function Find({ what, value }) {
  return html`<label>Find ${what} <input type="search" value=${value || ""} onInput=${(e) => refine({ find: e.target.value })} placeholder="part of its name" /></label>`;
}

// A unit's name, wherever it stands, leads to its page.
export const UnitLink = ({ unit, text }) => html`<a href=${link("unit", { of: unit })} title="Its story"><${Name}>${text || unit}<//></a>`;

export const Units = ({ list, most = 6 }) => html`${list.slice(0, most).map((name, i) => html`${i ? ", " : ""}<${UnitLink} unit=${name} />`)}${
  list.length > most && ` and ${list.length - most} more`}`;

// Beside the list on a wide window, over it on a narrow one. It takes the focus, gives it back, and closes with Escape.
export function Panel({ label, title, onClose, children }) {
  const heading = useRef();
  // Before it is painted: a key pressed at the first sight of the panel must reach it.
  useLayoutEffect(() => {
    const before = document.activeElement;
    heading.current.focus();
    return () => { if (before && before.isConnected) before.focus(); };
  }, [label]);
  const key = (event) => { if (event.key === "Escape") { event.stopPropagation(); onClose(); } };
  return html`<section class="panel" aria-label=${label} onKeyDown=${key}>
    <div class="panel-head"><h2 tabindex="-1" ref=${heading}>${title}</h2><button onClick=${onClose}>Close</button></div>
    <div class="panel-body">${children}</div>
  </section>`;
}

// A column: title, cell(row), number?, wide?, name? With `href` the first cell is a link to the row's details.
export function Table({ caption, shown, columns, rows, href, picked }) {
  const kind = (c) => (c.number ? "number" : c.wide ? "wide" : "");
  return html`<div class="scroll" tabindex=${rows.length ? 0 : null} role="group" aria-label=${caption}><table role="table">
    <caption class=${shown ? "" : "quiet"}>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((c) => html`<th scope="col" role="columnheader" class=${kind(c)}>${c.title}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row" key=${row.key} class=${row.key === picked ? "picked" : ""}>
      ${columns.map((c, i) => {
        const content = c.name ? html`<${Name}>${c.cell(row)}<//>` : c.cell(row);
        return html`<td role="cell" class=${kind(c)} data-title=${c.title}>${href && i === 0
          ? html`<a href=${href(row)} aria-current=${row.key === picked ? "true" : null}>${content}</a>` : content}</td>`;
      })}</tr>`)}</tbody></table></div>`;
}

function More({ total, what, limit, onMore }) {
  if (total <= limit) return null;
  return html`<p class="note more">${limit.toLocaleString("en")} of ${total.toLocaleString("en")} ${what} shown. <button onClick=${onMore}>Show more</button></p>`;
}

// A long list, a part at a time: how many to show, and the line below it.
export function useMore(step) {
  const [limit, setLimit] = useState(step);
  return [limit, (total, what) => html`<${More} total=${total} what=${what} limit=${limit} onMore=${() => setLimit(limit + step)} />`];
}
