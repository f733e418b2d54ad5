// One page a unit: why it is as it is and what would help, its life as a line, its pods, its queue, how it is written.
import { html, useState } from "../vendor/htm-preact.js";
import { amounts, hours, plural, span } from "../lib.js";
import { link, refine, useAnswer, useSeconds } from "../live.js";
import { Reasons } from "../plan_parts.js";
import { Empty, Name, NodeLinks, Problem, Told, UnitLink, Units, When, nodeLink, useMore } from "../parts.js";
import { Table } from "../table.js";

const WHY_EVERY = 20, LIFE_EVERY = 5, STARTS_EVERY = 120; // seconds: a why is a plan of its own, a when many
const of = (unit) => `of=${encodeURIComponent(unit)}`;

function Lines({ title, list, unit }) {
  return list && list.length > 0 && html`<h3>${title}</h3><${Reasons} list=${list} about=${unit} here=${unit} />`;
}

const PLACES = ["Node", "ClusterQueue", "LocalQueue", "Cohort", "MultiKueueCluster"];
const kindOf = (unit) => unit.split("/")[0];

// Whoever took its place, by name: once each, however many pods went. A node or a queue does not go, those in it do.
function Takers({ unit, evictions, items, said = "" }) {
  const all = [...(evictions || []).map((e) => e.by), ...(items || []).filter((m) => m.role === "made way").flatMap((m) => m.others)];
  const told = said.match(/[\w./-]*\w/g) || [];
  const names = [...new Set(all)].filter((name) => name && !told.includes(name));
  const who = kindOf(unit) === "Node" ? "Pods on it" : PLACES.includes(kindOf(unit)) ? "Workloads in it" : (items || []).some((m) => m.stays) ? "Some of its pods" : "It";
  return names.length > 0 && html`<p class="takers">${who} made way for <${Units} list=${names} />.</p>`;
}

// When it will run: many futures, so only asked for what waits. What the answer takes for granted is there on a pointer or focus.
function Starts({ unit }) {
  const { data, error } = useAnswer(`api/when?for=${encodeURIComponent(unit)}`, useSeconds(STARTS_EVERY));
  if (error) return html`<p class="starts note">When it starts is not known: ${error}</p>`;
  if (!data) return html`<p class="starts note" role="status">Looking ahead for when it starts…</p>`;
  return html`<div class="starts" tabindex="0"><p><${Told} text=${data.sentence} about=${unit} here=${unit} /></p>
    <ul class="assumed">${[...(data.assumptions || []), ...(data.notes || [])].map((line) => html`<li>${line}</li>`)}</ul></div>`;
}

function Why({ unit, items }) {
  const { data, error } = useAnswer(`api/explain?${of(unit)}`, useSeconds(WHY_EVERY));
  if (error) return html`<${Problem} error=${error} hint="Is the name right? It may be gone; its life below stays as long as its decisions are kept." /><${Takers} unit=${unit} items=${items} />`;
  if (!data) return html`<p class="note" role="status">Asking why…</p>`;
  return html`<div class="sheet why">
    <p class="answer"><span class=${`tag state-${data.state}`}>${data.state}</span> <${Told} text=${data.sentence} about=${unit} here=${unit} /></p>
    ${data.state === "waiting" && html`<${Starts} unit=${unit} />`}
    <${Takers} unit=${unit} evictions=${data.preemptedBy} items=${items} said=${data.sentence} />
    <${Reasons} list=${data.details} about=${unit} here=${unit} />
    <${Lines} title="Waits for" list=${data.waitsFor} unit=${unit} />
    <${Lines} title="What would help" list=${data.wouldHelp} unit=${unit} />
    <${Lines} title="Not shown" list=${data.notShown} unit=${unit} /></div>`;
}

const WORDS = {
  preempts: "preempted others:", scheduled: "got its place", unschedulable: "found no place", gated: "was held back", waits: "waited for its victims to end",
  admitted: "was admitted", decided: "got its cluster", "gate-opened": "one cluster may preempt for it", dispatched: "was sent to clusters", withdrawn: "was withdrawn from clusters",
};
// What it is after each moment; the stretches between the moments are drawn.
const AFTER = { created: "waiting", preempts: "nominated", waits: "nominated", scheduled: "running", runs: "running", admitted: "running", unschedulable: "waiting",
  gated: "waiting", evicted: "waiting", requeued: "waiting", finished: "gone" };
// A workload's place is quota; and a preemption may need nobody new to go.
const decided = (m) => (m.outcome === "scheduled" && m.by === "quota" ? "got its quota" : m.outcome === "preempts" && !m.others.length ? "got a place that others are leaving" : WORDS[m.outcome] || m.outcome);
const what = (m) => (m.role === "made way" ? `made way with ${plural(m.pods, "pod")} for` : m.role === "state" ? m.what : m.back ? `is back: ${decided(m)}` : decided(m));

// Nothing of it is there that could wait: a pod that made way does not come back, nor does a group nobody makes pods for.
const over = (story) => !story.known || (kindOf(story.unit) === "PodGroup" && !story.pods.length && !story.queue);

// From the oldest moment to now, in stretches of one state.
function stretches(story, now) {
  const { items } = story;
  const found = [];
  for (const moment of [...items].reverse()) {
    const state = moment.role === "made way" ? (moment.stays ? "running" : "waiting") : AFTER[moment.outcome];
    const last = found[found.length - 1];
    if (!state || (last && last.state === state)) continue;
    const begin = Date.parse(moment.time);
    if (last) last.end = begin;
    found.push({ state, begin, moment });
  }
  const last = found[found.length - 1];
  if (last) last.end = Math.max(now, last.begin);
  if (last && last.state === "waiting" && items[0].role === "made way" && over(story)) last.state = "gone";
  return found;
}

function Line({ story, now }) {
  const parts = stretches(story, now);
  if (!parts.length) return null;
  const whole = Math.max(1, parts[parts.length - 1].end - parts[0].begin);
  const told = parts.map((p) => `${p.state} for ${span((p.end - p.begin) / 1000)}`).join(", then ");
  return html`<div class="lifeline"><div class="stretches" role="img" aria-label=${told}>${parts.map((p) => html`<span class=${`stretch is-${p.state}`}
      style=${{ flexGrow: Math.max(0.02, (p.end - p.begin) / whole) }} title=${`${p.state} for ${span((p.end - p.begin) / 1000)}`}></span>`)}</div>
    <div class="ends"><${When} iso=${new Date(parts[0].begin).toISOString()} /><span>now</span></div>
    <ul class="legend" aria-hidden="true">${["waiting", "nominated", "running"].map((s) => html`<li><span class=${`swatch is-${s}`}></span>${s}</li>`)}</ul></div>`;
}

function Moment({ moment, unit }) {
  const { role, outcome, others, times } = moment;
  const kind = role === "made way" ? "went" : moment.back ? "scheduled back" : outcome;
  return html`<li class=${kind}>
    <${When} iso=${moment.time} />
    <div><strong>${what(moment)}</strong> ${others.length > 0 && html`<${Units} list=${others} unlisted=${moment.moreOthers} />`}
      ${moment.gpuHours > 0 && html` <span class="tag bad">${hours(moment.gpuHours)} GPU-hours lost</span>`}
      ${times > 1 && html` <span class="tag">${times} times since <${When} iso=${moment.since} plain /></span>`}
      ${moment.sentence && html`<p class="note"><${Told} text=${moment.sentence} about=${moment.role === "made way" ? moment.others[0] : unit} here=${unit} /></p>`}
      ${moment.id && html`<a href=${link("preemptions", { id: moment.id })} aria-label=${`The decision: ${what(moment)}`}>the decision</a>`}</div></li>`;
}

// A moment stays the same one when the next comes, or when it is said once more.
const begun = (m) => [m.role, m.outcome, m.since || m.time, m.others[0]].join(" ");

function Life({ story, now }) {
  if (story.place && !story.items.length) return null;
  return html`<section class="sheet" aria-label="Its life"><h2>Its life</h2>
    ${!story.items.length && html`<p class="note">${story.known ? "No decision about it is kept." : "No decision about it is kept, and nothing of it runs or waits."}</p>`}
    <${Line} story=${story} now=${now} />
    ${story.items.length > 0 && html`<ol class="life">${story.items.map((moment) => html`<${Moment} key=${begun(moment)} moment=${moment} unit=${story.unit} />`)}</ol>`}
    ${story.more > 0 && html`<p class="note">${plural(story.more, "older moment")} not shown.</p>`}</section>`;
}

const STATE = (p) => (p.nominated ? html`<span class="tag nominated">nominated</span>` : p.terminating ? html`<span class="tag">leaving</span>` : p.phase);

// Who is in a queue or a cluster: first those who wait, then those who hold its quota.
function Workloads({ story }) {
  const [limit, more] = useMore(25);
  const { workloads } = story, waiting = workloads.filter((w) => !w.holds).length;
  if (!workloads.length) return ["ClusterQueue", "LocalQueue", "MultiKueueCluster"].includes(kindOf(story.unit)) && html`<section class="sheet" aria-label="Its workloads"><h2>Its workloads</h2><p class="note">There are none now.</p></section>`;
  return html`<section class="sheet" aria-label="Its workloads"><h2>Its workloads</h2><p class="note">${waiting} waiting, ${workloads.length - waiting} with quota</p>
    <${Table} caption="Its workloads" rows=${workloads.slice(0, limit).map((w) => ({ key: w.workload, ...w }))} columns=${[
      { title: "Workload", cell: (w) => html`<${UnitLink} unit=${`Workload/${w.workload}`} text=${w.workload} />` },
      { title: "Priority", number: true, cell: (w) => w.priority },
      ...(workloads.some((w) => w.gpus) ? [{ title: "GPUs", number: true, cell: (w) => w.gpus }] : []),
      { title: "State", cell: (w) => (w.holds ? html`<span class="tag good">has quota</span>` : html`<span class="tag nominated">waits</span>`) },
      { title: "Since", cell: (w) => html`<${When} iso=${w.since} />` },
    ]} />${more(workloads.length, "workloads")}${story.moreWorkloads > 0 && html`<p class="note">${plural(story.moreWorkloads, "workload")} not shown.</p>`}</section>`;
}

function Pods({ story }) {
  const [limit, more] = useMore(25);
  const { pods, counts } = story, here = kindOf(story.unit) === "Node";
  if (!pods.length && story.place && !here) return null;
  if (!pods.length) return html`<section class="sheet" aria-label="Its pods"><h2>Its pods</h2><p class="note">None runs or waits now.</p></section>`;
  const waiting = pods.filter((p) => !p.node && p.phase === "Pending");
  return html`<section class="sheet" aria-label="Its pods"><h2>Its pods</h2>
    <p class="note">${plural(counts.running, "pod")} running, ${counts.waiting} waiting, ${counts.leaving} leaving${story.minCount ? `; ${story.minCount} must run at once` : ""}${story.gpus ? `; ${plural(story.gpus, "GPU")}` : ""}</p>
    <${Table} caption="Its pods" rows=${pods.slice(0, limit).map((p) => ({ key: p.pod, ...p }))} columns=${[
      { title: "Pod", cell: (p) => html`<${UnitLink} unit=${`Pod/${p.pod}`} />` },
      ...(here ? [{ title: "Priority", number: true, cell: (p) => p.priority }] : [{ title: "Node", cell: (p) => (p.node ? html`<a href=${nodeLink(p.node)}><${Name}>${p.node}<//></a>` : "–") }]),
      { title: "State", cell: STATE },
      { title: "Since", cell: (p) => html`<${When} iso=${p.started || p.created} />` },
      ...(waiting.length === pods.length ? [] : [{ title: "Requests", cell: (p) => amounts(p.requests) || "–" }]),
    ]} />${more(pods.length, "pods")}${story.more > 0 && html`<p class="note">${plural(story.more, "pod")} not shown.</p>`}</section>`;
}

function Facts({ story }) {
  const { queue } = story;
  const facts = [
    ["Priority", story.priority === null ? "" : `${story.priority}${story.priorityClass ? ` (${story.priorityClass})` : ""}`],
    ["Team", story.team],
    ["Queue", queue && html`<a href=${link("unit", { of: `LocalQueue/${queue.local}` })}>${queue.local}</a>${queue.cluster && html` in <a href=${link("quota", { queue: queue.cluster })}>${queue.cluster}</a>`}`],
    ["Runs in cluster", story.cluster && html`<a href=${link("fleet", { cluster: story.cluster })}>${story.cluster}</a>`],
    ["Nominated to", story.nominated.length > 0 && !story.place && html`<${NodeLinks} nodes=${story.nominated} />`],
    ["Also known as", story.kin.length > 0 && html`<${Units} list=${story.kin} />`],
  ].filter(([, value]) => value);
  return facts.length > 0 && html`<dl class="about">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Events({ list }) {
  if (!list.length) return html`<p class="note">No event about it is kept. Kubernetes keeps events for an hour or so.</p>`;
  return html`<${Table} caption="Events, newest first" rows=${list.map((e, i) => ({ key: list.length - i, ...e }))} columns=${[
    { title: "When", cell: (e) => html`<${When} iso=${e.time} />` },
    { title: "Reason", cell: (e) => `${e.reason}${e.count > 1 ? ` (${e.count} times)` : ""}` },
    { title: "Message", wide: true, cell: (e) => e.note },
  ]} />`;
}

function Written({ unit, show }) {
  const [again, setAgain] = useState(0);
  const { data, error } = useAnswer(show ? `api/document?${of(unit)}` : null, again);
  const tab = (name, title) => html`<button aria-pressed=${show === name ? "true" : "false"} onClick=${() => { refine({ show: show === name ? "" : name }); setAgain(again + 1); }}>${title}</button>`;
  return html`<section class="sheet" aria-label="As it is written"><h2>As it is written</h2>
    <div class="toolbar">${tab("yaml", "YAML")}${tab("events", "Events")}</div>
    ${show && error && html`<${Problem} error=${error} hint="The page reads objects with the rights of its controller." />`}
    ${show && !data && !error && html`<p class="note" role="status">Reading…</p>`}
    ${show === "yaml" && data && (data.yaml ? html`<pre class="yaml" tabindex="0" role="region" aria-label="YAML">${data.yaml}</pre>`
      : html`<p class="note">There is no such object now, or the page does not read this kind: <code>kubectl get ${unit.split("/")[0].toLowerCase()} -o yaml</code> does.</p>`)}
    ${show === "events" && data && html`<${Events} list=${data.events} />`}</section>`;
}

// The view that shows it among the others.
function Elsewhere({ unit, counts }) {
  const kind = kindOf(unit), name = unit.slice(kind.length + 1), runs = counts && counts.running + counts.leaving > 0;
  const [text, to] = { PodGroup: runs && ["Where it runs", link("map", { group: name })], Node: ["On the map", nodeLink(name)],
    ClusterQueue: ["In the quota tree", link("quota", { queue: name })], MultiKueueCluster: ["In the fleet", link("fleet", { cluster: name })] }[kind] || [];
  return to && html`<a href=${to}>${text}</a>`;
}

export function UnitView({ params }) {
  const unit = params.of || "";
  const now = useSeconds(LIFE_EVERY);
  const { data: story, error } = useAnswer(unit ? `api/story?${of(unit)}` : null, now);
  if (!unit) return html`<${Empty}>Which one? Choose a unit under Queue, Pod groups or Preemptions, or search with <kbd>/</kbd>.<//>`;
  return html`<div class="toolbar"><h2 class="breaks">${unit}</h2><${Elsewhere} unit=${unit} counts=${story && story.counts} /></div>
    <${Why} key=${unit} unit=${unit} items=${story && story.items} />
    ${error && html`<${Problem} error=${error} />`}
    ${story && html`<${Facts} story=${story} />
    <div class="columns"><div><${Life} story=${story} now=${now} />${story.place && html`<${Pods} story=${story} /><${Workloads} story=${story} />`}</div>
      <div>${!story.place && html`<${Pods} story=${story} />`}<${Written} unit=${unit} show=${params.show} /></div></div>`}`;
}
