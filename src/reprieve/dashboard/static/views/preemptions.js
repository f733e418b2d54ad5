// The timeline of decisions, and everything about one of them.
import { html, useState } from "../vendor/htm-preact.js";
import { clock, millis, plural } from "../lib.js";
import { link, go, refine, useAnswer } from "../live.js";
import { Empty, Find, Panel, Problem, Told, UnitLink, When } from "../parts.js";
import { Table } from "../table.js";
import { Alternatives, Budgets, Cost, Placements, Reasons, Reprieved, Victims } from "../plan_parts.js";
import { Timeline } from "./timeline.js";

const STEP = 100, MOST = 1000;
const OUTCOMES = ["preempts", "scheduled", "unschedulable", "gated", "waits"];

function Decision({ id, onClose }) {
  const { data: d, error } = useAnswer(`api/decisions/${encodeURIComponent(id)}`);
  return html`<${Panel} label="Decision" title=${d ? html`<${Told} text=${d.sentence} about=${d.for} />` : "Decision"} onClose=${onClose}>
    ${error && html`<${Problem} error=${error} hint="Old decisions leave the ring; see records.path in the configuration to keep them." />`}
    ${d && html`
      <p class="note"><span class=${`tag outcome-${d.outcome}`}>${d.outcome}</span> <${When} iso=${d.time} /> · for <${UnitLink} unit=${d.for} /> · by the ${d.controller} controller · ${millis(d.durationMs)} · cluster revision ${d.revision || "–"}</p>
      <${Reasons} list=${d.reasons} about=${d.for} />
      <${Cost} cost=${d.cost} />
      <${Victims} list=${d.victims} verb=${d.outcome === "preempts" ? "made way" : ""} by=${d.for} />
      ${d.victims.length > 0 && d.cost && d.cost.pods > d.victims.length && html`<p class="note">The cost counts ${plural(d.cost.pods - d.victims.length, "more pod")} that had been asked to go before.</p>`}
      <${Reprieved} list=${d.reprieved} />
      <${Budgets} list=${d.budgets} />
      <${Placements} placements=${d.placements} caption="Where it goes" />
      <${Alternatives} title="What else was possible" list=${d.alternatives} />`}
  <//>`;
}

export function PreemptionsView({ state, params }) {
  const { id: picked, for: unit, ns, team, find = "" } = params;
  const zoom = (params.zoom || "").split("-").map(Number);
  const range = { span: Number(params.span) || 900, zoom: zoom.length === 2 && zoom.every(Number.isFinite) ? zoom : null };
  const setRange = (to) => refine({ span: to.span === 900 ? "" : `${to.span}`, zoom: to.zoom ? to.zoom.map(Math.round).join("-") : "" });
  const chosen = OUTCOMES.includes(params.outcome) ? params.outcome : params.outcome === "all" ? "" : "preempts";
  const outcome = unit ? "" : chosen;
  const [limit, setLimit] = useState(STEP);
  const [since, until] = (range.zoom || []).map((at) => `${Math.round(at)}`);
  const asked = Object.entries({ limit, outcome, for: unit, ns, team, find, since, until }).filter(([, value]) => value);
  const { data, error } = useAnswer(`api/preemptions?${new URLSearchParams(asked)}`, state.version, true);
  const rows = data ? data.items : [], narrowed = range.zoom || ns || team || find;
  return html`<div>
    <${Timeline} range=${range} onRange=${setRange} />
    <div class="toolbar">
      ${unit ? html`<span>Decisions for <strong class="breaks">${unit}</strong> <a href=${link("preemptions")}>Show all units</a></span>`
        : html`<label>Outcome <select value=${chosen || "all"} onChange=${(e) => refine({ outcome: e.target.value })}>
            ${OUTCOMES.map((o) => html`<option value=${o}>${o}</option>`)}<option value="all">all decisions</option></select></label>`}
      <${Find} what="a decision" value=${find} />
    </div>
    ${error && html`<${Problem} error=${error} hint="Decisions are kept by a running controller: reprieve run, or reprieve up." />`}
    ${data && !rows.length && html`<${Empty}>${narrowed ? "No such decision: widen the time, the namespace, the team or the name." : outcome === "preempts" ? `No preemption since ${clock(state.keptSince)}: everybody found room, or nobody less important was in the way.`
      : "No such decision is kept."}<//>`}
    ${rows.length > 0 && html`<${Table} caption="Decisions, newest first" picked=${picked} href=${(d) => link("preemptions", { ...params, id: d.key })}
      rows=${rows.map((d) => ({ key: d.id, ...d }))} columns=${[
        { title: "When", cell: (d) => html`<${When} iso=${d.time} plain />` },
        { title: "Outcome", cell: (d) => html`<span class=${`tag outcome-${d.outcome}`}>${d.outcome}</span>` },
        { title: "Victims", number: true, cell: (d) => d.victims },
        { title: "Took", number: true, cell: (d) => millis(d.durationMs) },
        { title: "In one sentence", wide: true, cell: (d) => html`<${Told} text=${d.sentence} about=${d.for} />` },
      ]} />`}
    ${data && data.more && limit < MOST && html`<p class="note more">The newest ${limit}. <button onClick=${() => setLimit(Math.min(MOST, limit * 3))}>Show more</button></p>`}
    ${picked && html`<${Decision} key=${picked} id=${picked} onClose=${() => go("preemptions", { ...params, id: "" })} />`}
  </div>`;
}
