// What every view is put together from.
import { html, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { age, clock, exact, thousands, percent } from "./lib.js";
import { known, link, refine } from "./live.js";

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

// `unlisted`: how many more there are than the list holds.
export const Units = ({ list, most = 6, unlisted = 0 }) => html`${list.slice(0, most).map((name, i) => html`${i ? ", " : ""}<${UnitLink} unit=${name} />`)}${
  list.length + unlisted > most && ` and ${thousands(list.length + unlisted - most)} more`}`;

const WITHOUT_NAMESPACE = ["ClusterQueue", "Node", "Cohort"];
export const nodeLink = (name) => link("map", { node: name });

// What a word of a sentence names: `PodGroup/ml/train`, `Job ml/train`, `ClusterQueue ml`, a node, a pod (or, where quota is told of, a workload).
function named(word, before, usual, there) {
  const parts = word.split("/");
  if (/^[A-Z]/.test(word)) return parts.length === 3 || (parts.length === 2 && WITHOUT_NAMESPACE.includes(parts[0])) ? word : "";
  if (parts.length === 2) return there.namespaces.has(parts[0]) ? `${/^[A-Z]/.test(before) ? before : usual}/${word}` : "";
  return there.nodes.has(word) ? `Node/${word}` : before === "ClusterQueue" && there.queues.has(word) ? `ClusterQueue/${word}` : "";
}

// A sentence in which every name leads to what it names. `about`: the unit that the sentence is about; on its own page (`here`) it leads nowhere.
export function Told({ text, about = "", here = "" }) {
  const there = known(), usual = /^(Workload|ClusterQueue|LocalQueue)\//.test(about) ? "Workload" : "Pod";
  const parts = [];
  let end = 0, before = "";
  for (const { 0: word, index } of (text || "").matchAll(/[\w./-]*\w/g)) {
    const unit = named(word, before, usual, there);
    if (unit && unit !== here) {
      parts.push(text.slice(end, index), html`<a class="breaks" href=${unit.startsWith("Node/") ? nodeLink(unit.slice("Node/".length)) : link("unit", { of: unit })}>${word}</a>`);
      end = index + word.length;
    }
    before = word;
  }
  return html`<span>${parts}${(text || "").slice(end)}</span>`;
}

export const NodeLinks = ({ nodes, most = 5 }) => (nodes.length ? html`${nodes.slice(0, most).map((n, i) => html`${i ? ", " : ""}<a href=${nodeLink(n)}><${Name}>${n}<//></a>`)}${
  nodes.length > most && ` and ${nodes.length - most} more`}` : "–");

// Beside the list on a wide window, over it on a narrow one. It takes the focus, gives it back, and closes with Escape.
export function Panel({ label, title, onClose, children }) {
  const heading = useRef();
  // Before it is painted: a key pressed at the first sight of the panel must reach it. Whoever went on to something else keeps the focus there.
  useLayoutEffect(() => {
    const before = document.activeElement, panel = heading.current.closest(".panel");
    heading.current.focus();
    return () => { if (before && before.isConnected && panel.contains(document.activeElement)) before.focus(); };
  }, [label]);
  const key = (event) => { if (event.key === "Escape") { event.stopPropagation(); onClose(); } };
  return html`<section class="panel" aria-label=${label} onKeyDown=${key}>
    <div class="panel-head"><h2 tabindex="-1" ref=${heading}>${title}</h2><button onClick=${onClose}>Close</button></div>
    <div class="panel-body">${children}</div>
  </section>`;
}

// Over everything. Escape or a click beside it closes it, at once: the browser tells of a closed dialog some time later, and a key that is
// pressed in between belongs to the page. Closed before it is taken away, it gives the focus back.
export function Dialog({ kind, label, onClose, children }) {
  const box = useRef();
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`<dialog ref=${box} class=${kind} aria-label=${label} onClose=${onClose} onCancel=${(e) => { e.preventDefault(); onClose(); }}
    onClick=${(e) => { if (e.target === box.current) onClose(); }}><div>${children}</div></dialog>`;
}

// What is unfolded is in the address, and how to change it.
export function unfolding(params) {
  const open = new Set((params.open || "").split(" ").filter(Boolean));
  return [open, (key) => { const after = new Set(open); if (!after.delete(key)) after.add(key); refine({ open: [...after].join(" ") }); }];
}

export const Fold = ({ open, label, onToggle }) => html`<button class="fold" aria-expanded=${open ? "true" : "false"} aria-label=${label} onClick=${onToggle}>${open ? "▾" : "▸"}</button>`;

function More({ total, what, limit, onMore }) {
  if (total <= limit) return null;
  return html`<p class="note more">${thousands(limit)} of ${thousands(total)} ${what} shown. <button onClick=${onMore}>Show more</button></p>`;
}

// A long list, a part at a time: how many to show, and the line below it.
export function useMore(step) {
  const [limit, setLimit] = useState(step);
  return [limit, (total, what) => html`<${More} total=${total} what=${what} limit=${limit} onMore=${() => setLimit(limit + step)} />`];
}
