// The first look: what is used and promised, who waits, what preemption cost today. And whose things are shown.
import { html } from "../vendor/htm-preact.js";
import { clock, exact, thousands, hours, percent } from "../lib.js";
import { refine, link } from "../live.js";

const SHOWN = 3;
const counted = ([name, count]) => `${name}${name.startsWith("priority ") ? ":" : ""} ${thousands(count)}`;
// The first of several [name, count].
const some = (list) => list.slice(0, SHOWN).map(counted).join(" · ") + (list.length > SHOWN ? ` · ${list.length - SHOWN} more` : "");

function Fact({ name, value, note, title, href, children }) {
  return html`<div title=${title}><dt>${name}</dt><dd>${href ? html`<a href=${href}>${value}</a>` : value}${children}</dd>${note && html`<dd class="fact-note">${note}</dd>`}</div>`;
}

function Capacity({ summary }) {
  const { resource, used, total, promised } = summary;
  const unit = resource === "cpu" ? 1000 : 1, show = (x) => thousands(Math.round(x / unit));
  const name = resource === "cpu" ? "CPUs used" : "GPUs used";
  if (!total) return null;
  const share = (x) => ({ width: `${Math.min(100, (100 * x) / total)}%` });
  return html`<${Fact} name=${name} value=${show(used)} note=${`${percent(used / total)}${promised ? `, ${show(promised)} promised` : ", none promised"}`}
    title="Requested by pods on nodes; promised: set aside for pods that are nominated to a node">
    <span class="of"> of ${show(total)}</span><span class="meter" aria-hidden="true"><span style=${share(used)}></span><span class="borrowed" style=${share(Math.min(promised, total - used))}></span></span><//>`;
}

export function Headline({ state }) {
  const { summary, today, fleet } = state;
  const manager = fleet.clusters.length > 0 && !summary.nodes;
  // Of the time before the first decision that is kept nothing is known.
  const late = !today.whole, when = late ? `since ${clock(state.keptSince)}` : "today";
  const since = late ? `Since ${exact(state.keptSince)}: older decisions are not kept` : "Since midnight UTC";
  return html`<dl class="facts headline">
    ${!manager && html`<${Capacity} summary=${summary} />
    <${Fact} name="pods running" value=${thousands(summary.running)} note=${`on ${thousands(summary.nodes)} ${summary.nodes === 1 ? "node" : "nodes"}${summary.terminating ? `, ${thousands(summary.terminating)} leaving` : ""}`} />
    <${Fact} name="pods waiting" value=${thousands(summary.pending)} note=${some(Object.entries(summary.waitingByClass)) || "nobody"} href=${link("queue")} title="By priority class" />`}
    ${manager && html`<${Fact} name="clusters" value=${thousands(fleet.clusters.length)} note=${`${fleet.clusters.filter((c) => c.connected).length} connected`} href=${link("fleet")} />
    <${Fact} name="workloads waiting" value=${thousands(state.quota.queues.reduce((sum, q) => sum + q.pending, 0))} note=${some(state.quota.queues.filter((q) => q.pending).map((q) => [q.name, q.pending])) || "nobody"} href=${link("quota")} title="For quota, by queue" />
    <${Fact} name="workloads sent out" value=${thousands(fleet.total)} note=${`${thousands(fleet.workloads.filter((w) => !w.cluster).length)} undecided`} href=${link("fleet")} />`}
    <${Fact} name=${`preemptions ${when}`} value=${thousands(today.preemptions)} note=${`${thousands(today.pods)} ${today.pods === 1 ? "pod" : "pods"} made way`} href=${link("flow")} title=${since} />
    ${(manager || summary.resource === "gpu") && html`<${Fact} name=${`GPU-hours lost ${when}`} value=${hours(today.gpuHours)} note=${today.unknown ? `${thousands(today.unknown)} not counted: start unknown` : today.gpuHours ? "at most: saved work is not known" : "no GPU lost its work"}
      title=${`${since}. GPUs of each victim times the time since it started; what it saved in between is not known`} />`}
  </dl>`;
}

export function Whose({ state, params }) {
  const { ns, team } = params;
  // Of one namespace without teams there is nothing to choose from.
  const several = state.namespaces.length > 1 || state.teams.length > 1 || ns || team;
  if (!several) return null;
  const options = (names, chosen) => [...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => html`<option value=${name}>${name}</option>`);
  return html`<div class="toolbar whose" role="group" aria-label="Whose things are shown">
    <label>Namespace <select value=${ns || ""} onChange=${(e) => refine({ ns: e.target.value })}><option value="">all</option>${options(state.namespaces, ns)}</select></label>
    ${(state.teams.length > 0 || team) && html`<label>Team <select value=${team || ""} onChange=${(e) => refine({ team: e.target.value })}
      title="The label “team” of pods, or their queue"><option value="">all</option>${options(state.teams, team)}</select></label>`}
    ${(ns || team) && html`<button onClick=${() => refine({ ns: "", team: "" })}>Show everything</button>`}</div>`;
}
