// Search over everything, from anywhere with /. Arrows choose, Enter opens, Escape leaves.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { getJSON, thousands } from "../lib.js";
import { link } from "../live.js";
import { Dialog } from "../parts.js";

const PAUSE = 120; // milliseconds after the last key
const TARGETS = {
  Node: (name) => link("map", { node: name }),
  ClusterQueue: (name) => link("quota", { queue: name }),
  LocalQueue: (name) => link("unit", { of: `LocalQueue/${name}` }),
  Cohort: (name) => link("quota", { cohort: name }),
  MultiKueueCluster: (name) => link("fleet", { cluster: name }),
};
const target = ({ kind, name, href }) => href || (TARGETS[kind] ? TARGETS[kind](name) : link("unit", { of: `${kind}/${name}` }));

function useMatches(text, views) {
  const [found, setFound] = useState({ items: [], total: 0 });
  useEffect(() => {
    let gone = false;
    const timer = setTimeout(async () => {
      const own = views.filter(([, title]) => text && title.toLowerCase().includes(text.toLowerCase()))
        .map(([id, title]) => ({ kind: "View", name: title, href: link(id) }));
      try {
        const { items, total } = text.trim() ? await getJSON(`api/search?q=${encodeURIComponent(text)}`) : { items: [], total: 0 };
        if (!gone) setFound({ text, items: [...own, ...items], total: total + own.length });
      } catch (e) {
        if (!gone) setFound({ text, items: own, total: own.length, error: e.message });
      }
    }, PAUSE);
    return () => { gone = true; clearTimeout(timer); };
  }, [text]);
  return found;
}

export function Search({ views, onClose }) {
  const input = useRef(), entered = useRef(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState({ of: null, at: 0 });
  const found = useMatches(text, views);
  const at = chosen.of === found ? chosen.at : 0, setAt = (to) => setChosen({ of: found, at: to }); // of other matches nothing was chosen yet
  // Before it is painted: the next key that is pressed belongs to it.
  useLayoutEffect(() => input.current.focus(), []);
  useEffect(() => { const row = document.getElementById(`match-${at}`); if (row) row.scrollIntoView({ block: "nearest" }); }, [at]);
  const open = (item) => { onClose(); location.hash = target(item); };
  // Enter right after the last letter is for what is still being searched for.
  useLayoutEffect(() => { if (found.items.length && found.text === entered.current) open(found.items[0]); }, [found]);
  const key = (event) => {
    if (event.key === "Escape") { event.preventDefault(); onClose(); return; } // which would only empty the field
    const last = found.items.length - 1;
    const to = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined && last >= 0) { event.preventDefault(); setAt(to); }
    entered.current = event.key === "Enter" && found.text !== text ? text : null;
    if (event.key === "Enter" && found.items[at] && found.text === text) { event.preventDefault(); open(found.items[at]); }
  };
  const said = !text.trim() ? "Type a part of a name: a pod, group, workload, job, node, queue, cluster or view."
    : found.error ? `The search failed: ${found.error}`
    : found.text !== text ? "Searching…"
    : found.items.length ? `${found.items.length === found.total ? found.total : `The best ${found.items.length} of ${thousands(found.total)}`} ${found.total === 1 ? "match" : "matches"}`
    : `Nothing is called “${text}”. Names of what is gone are found under Preemptions.`;
  return html`<${Dialog} kind="search" label="Search" onClose=${onClose}>
    <input ref=${input} type="search" role="combobox" aria-label="Search everything" aria-expanded=${found.items.length > 0 ? "true" : "false"} aria-controls="matches" aria-autocomplete="list"
      aria-activedescendant=${found.items[at] ? `match-${at}` : null} value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${key} placeholder="Search everything" autocomplete="off" spellcheck=${false} />
    <p class="note" role="status">${said}</p>
    <ul id="matches" role="listbox" aria-label="Matches">${found.items.map((item, i) => html`<li key=${`${item.kind}/${item.name}`} id=${`match-${i}`} role="option" aria-selected=${i === at ? "true" : "false"}
      onMouseMove=${() => setAt(i)} onClick=${() => open(item)}><span class="tag">${item.kind}</span> <span class="breaks">${item.name}</span></li>`)}</ul><//>`;
}
