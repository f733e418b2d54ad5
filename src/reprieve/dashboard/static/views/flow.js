// Who made way for whom: preemptors on the left, the units that went on the right, as thick as their pods are many.
import { html } from "../vendor/htm-preact.js";
import { clock, plural } from "../lib.js";
import { link } from "../live.js";
import { Empty, Problem } from "../parts.js";
import { useAnswer } from "./unit.js";

const ROW = 26, GAP = 14, LEFT = 330, RIGHT = 570, WIDTH = 900, NAME = 44, MOST = 12;
const short = (name) => (name.length > NAME ? `${name.slice(0, NAME - 1)}…` : name);
const thickness = (pods) => Math.min(ROW - 4, 2 + 3 * Math.log2(1 + pods));

// Every preemptor gets as much height as its victims need.
function layout(items) {
  let y = 10;
  return items.map((flow) => {
    const shown = flow.victims.slice(0, MOST), rest = flow.victims.slice(MOST);
    const lines = rest.length ? [...shown, { unit: "", pods: rest.reduce((sum, v) => sum + v.pods, 0), units: rest.length }] : shown;
    const top = y;
    y += lines.length * ROW + GAP;
    return { ...flow, lines: lines.map((v, i) => ({ ...v, y: top + i * ROW + ROW / 2 })), y: top + (lines.length * ROW) / 2, bottom: y };
  });
}

function Curve({ from, to, line }) {
  const middle = (LEFT + RIGHT) / 2;
  return html`<path class=${line.broken ? "flow broken" : "flow"} d=${`M ${LEFT} ${from} C ${middle} ${from}, ${middle} ${to}, ${RIGHT} ${to}`} stroke-width=${thickness(line.pods)}>
    <title>${`${plural(line.pods, "pod")}${line.broken ? `, ${plural(line.broken, "budget")} broken` : ""}`}</title></path>`;
}

export function FlowView({ state }) {
  const { data, error } = useAnswer("api/flows", state.summary.preemptions);
  if (error) return html`<${Problem} error=${error} hint="Decisions are kept by a running controller: reprieve run, or reprieve up." />`;
  if (!data) return html`<p class="note" role="status">Reading the decisions…</p>`;
  if (!data.items.length) return html`<${Empty}>Nobody had to make way yet: everybody found room, or nobody less important was in the way.<//>`;
  const flows = layout(data.items);
  const pods = data.items.reduce((sum, f) => sum + f.victims.reduce((s, v) => s + v.pods, 0), 0);
  return html`<div class="toolbar"><span class="note">${plural(data.items.length, "unit")} had others make way; ${plural(pods, "pod")} went. A group that went is one line; red: a disruption budget was broken.${data.more > 0 && ` ${plural(data.more, "older preemptor")} not shown.`}</span></div>
    <div class="scroll flows" role="group" tabindex="0" aria-label="Who made way for whom">
    <svg viewBox=${`0 0 ${WIDTH} ${flows[flows.length - 1].bottom}`} width=${WIDTH} role="list">
      ${flows.map((flow) => html`<g role="listitem" aria-label=${`${flow.by}: ${flow.victims.map((v) => `${v.unit}, ${plural(v.pods, "pod")}`).join("; ")}`}>
        ${flow.lines.map((line) => html`<${Curve} from=${flow.y} to=${line.y} line=${line} />`)}
        <a href=${link("unit", { of: flow.by })}><text x=${LEFT - 8} y=${flow.y} text-anchor="end">${short(flow.by)}<title>${flow.by}</title></text></a>
        <text class="when" x=${LEFT - 8} y=${flow.y + 15} text-anchor="end">${clock(flow.time)}</text>
        ${flow.lines.map((line) => (line.unit
          ? html`<a href=${link("unit", { of: line.unit })}><text x=${RIGHT + 8} y=${line.y + 4}>${short(line.unit)} · ${plural(line.pods, "pod")}<title>${line.unit}</title></text></a>`
          : html`<text class="when" x=${RIGHT + 8} y=${line.y + 4}>and ${plural(line.units, "more unit")} · ${plural(line.pods, "pod")}</text>`))}
      </g>`)}
    </svg></div>`;
}
