// Who made way for whom: preemptors on the left, whoever went on the right, as thick as their pods are many.
import { html } from "../vendor/htm-preact.js";
import { clock, hours, plural } from "../lib.js";
import { link, useAnswer } from "../live.js";
import { Empty, Problem, When, useMore } from "../parts.js";
import { ReasonsOnce } from "../plan_parts.js";

const ROW = 26, GAP = 12, LEFT = 12, RIGHT = 190, WIDTH = 200, MOST = 12, STEP = 15;
const thickness = (pods) => Math.min(ROW - 4, 2 + 3 * Math.log2(1 + pods));
const important = (priority) => (priority === null || priority === undefined ? "" : `priority ${priority}`);
const lost = (line, verb = "") => [important(line.priority), `${plural(line.pods, "pod")}${verb}`, line.gpuHours > 0 && `${hours(line.gpuHours)} GPU-hours lost`, line.broken > 0 && `${line.broken} beyond a budget`,
  line.unknown > 0 && line.gpuHours > 0 && `${line.unknown} not counted`].filter(Boolean).join(" · ");

function lines(victims) {
  const shown = victims.slice(0, MOST), rest = victims.slice(MOST);
  const sum = (key) => rest.reduce((total, v) => total + v[key], 0);
  return rest.length ? [...shown, { name: "", units: rest.length, pods: sum("pods"), broken: sum("broken"), gpuHours: sum("gpuHours"), unknown: sum("unknown") }] : shown;
}

function Curves({ list }) {
  const height = list.length * ROW, from = height / 2, middle = (LEFT + RIGHT) / 2;
  return html`<svg class="curves" viewBox=${`0 0 ${WIDTH} ${height}`} width=${WIDTH} height=${height} preserveAspectRatio="none" aria-hidden="true">
    ${list.map((line, i) => { const to = i * ROW + ROW / 2; return html`<path class=${line.broken ? "flow broken" : "flow"} stroke-width=${thickness(line.pods)}
      d=${`M ${LEFT} ${from} C ${middle} ${from}, ${middle} ${to}, ${RIGHT} ${to}`}></path>`; })}</svg>`;
}

function Flow({ flow }) {
  const list = lines(flow.victims);
  const sum = (key) => flow.victims.reduce((total, v) => total + v[key], 0);
  const all = { pods: sum("pods"), gpuHours: sum("gpuHours"), broken: sum("broken"), unknown: sum("unknown") };
  return html`<li class="flow-row">
    <div class="flow-by"><a class="breaks" href=${link("unit", { of: flow.by })}>${flow.by}</a>
      <span class="note"><${When} iso=${flow.time} />${important(flow.priority) && ` · ${important(flow.priority)}`}</span>
      <span class="note">${lost(all, " made way")} · <a href=${link("preemptions", { id: flow.ids[0] })} aria-label=${`The last decision for ${flow.by}`}>why</a></span></div>
    <${Curves} list=${list} />
    <ul class="flow-victims">${list.map((line) => html`<li>${line.name ? html`<a href=${link("unit", { of: line.name })} title=${line.name}>${line.name}</a>` : html`<span>and ${plural(line.units, "more owner")}</span>`}
      <span class=${line.broken ? "note broken" : "note"}>${lost(line)}</span></li>`)}</ul>
    <${ReasonsOnce} list=${flow.victims} what="owner" by=${flow.by} /></li>`;
}

export function FlowView({ state, params }) {
  const { ns = "", team = "" } = params;
  const [limit, more] = useMore(STEP);
  const { data, error } = useAnswer(`api/flows?${new URLSearchParams({ ns, team })}`, state.summary.preemptions, true);
  if (error) return html`<${Problem} error=${error} hint="Decisions are kept by a running controller: reprieve run, or reprieve up." />`;
  if (!data) return html`<p class="note" role="status">Reading the decisions…</p>`;
  if (!data.items.length && (ns || team)) return html`<${Empty}>Nobody of this namespace or team made others go, or had to go.<//>`;
  if (!data.items.length) return html`<${Empty}>Nobody had to make way since ${clock(state.keptSince)}: everybody found room, or nobody less important was in the way. Ask <a href=${link("whatif")}>What if</a> who would have to go for a job of yours.<//>`;
  const shown = data.items;
  const sum = (key) => shown.reduce((total, f) => total + f.victims.reduce((s, v) => s + v[key], 0), 0);
  return html`<div class="toolbar"><span class="note">${plural(shown.length, "unit")} had others make way: ${plural(sum("pods"), "pod")}, ${hours(sum("gpuHours"))} GPU-hours, ${sum("broken") ? `${plural(sum("broken"), "pod")} beyond a disruption budget (red)` : "no disruption budget broken"}. A group or a job that went is one line.${data.more > 0 && ` ${plural(data.more, "older preemptor")} not shown.`}</span></div>
    <ul class="flows" aria-label="Who made way for whom">${shown.slice(0, limit).map((flow) => html`<${Flow} key=${flow.by} flow=${flow} />`)}</ul>
    ${more(shown.length, "preemptors")}`;
}
