// One node: what it has, what runs on it, who is nominated to it.
import { html } from "../vendor/htm-preact.js";
import { amount, amounts, bandClass, groupClass, plural } from "../lib.js";
import { link, useAnswer } from "../live.js";
import { Empty, Panel, Problem, UnitLink, When } from "../parts.js";
import { Table } from "../table.js";

export function NodeDetail({ name, revision, bands, onClose }) {
  const { data: d, error } = useAnswer(`api/nodes/${encodeURIComponent(name)}`, revision);
  return html`<${Panel} label=${`Node ${name}`} title=${name} onClose=${onClose}>
    ${error && html`<${Problem} error=${error} hint="The node may be gone; close this panel and pick another." />`}
    ${d && html`
      <p class="note">${[d.pool && `pool ${d.pool}`, d.zone && `zone ${d.zone}`, d.rack && `rack ${d.rack}`, d.ready ? "ready" : "not ready", d.cordoned && "cordoned"].filter(Boolean).join(" · ")} · ${""}
        <a href=${link("unit", { of: `Node/${name}` })}>why, YAML and events</a></p>
      ${d.resources.map((r) => html`<div class="bar-row"><span>${r.name}</span>
        <span class="meter" aria-hidden="true"><span style=${{ width: `${r.allocatable ? Math.min(100, (100 * r.used) / r.allocatable) : 0}%` }}></span></span>
        <span>${amount(r.name, r.used)} of ${amount(r.name, r.allocatable)} used, ${amount(r.name, Math.max(0, r.allocatable - r.used))} free</span></div>`)}
      ${!d.pods.length && html`<${Empty}>No pods here.<//>`}
      ${d.pods.length > 0 && html`<${Table} shown caption=${plural(d.pods.length, "pod")} rows=${d.pods.map((p) => ({ key: p.pod, ...p }))} columns=${[
        { title: "Pod", cell: (p) => html`<span class="marked"><span class=${`swatch ${bandClass(bands.indexOf(p.priority), bands.length)}`}></span><${UnitLink} unit=${`Pod/${p.pod}`} text=${p.pod} /></span>` },
        { title: "Priority", number: true, cell: (p) => p.priority },
        { title: "Group", cell: (p) => (p.group ? html`<span class="marked"><span class=${`swatch ${groupClass(p.group)}`}></span><${UnitLink} unit=${`PodGroup/${p.group}`} text=${p.group} /></span>` : "–") },
        { title: "Requests", cell: (p) => amounts(p.requests) || "–" },
        { title: "State", cell: (p) => (p.nominated ? html`<span class="tag nominated">nominated</span>` : p.terminating ? html`<span class="tag">leaving</span>` : p.phase) },
        { title: "Age", number: true, cell: (p) => html`<${When} iso=${p.started || p.created} ago />` },
      ]} />`}`}
  <//>`;
}
