// One page a unit: why it is as it is, what would help, and its life as a line. Every name leads here.
import { html, useState, useEffect } from "../vendor/htm-preact.js";
import { getJSON, clock, plural } from "../lib.js";
import { link, useSeconds } from "../live.js";
import { Empty, Problem, UnitLink } from "../parts.js";

const WHY_EVERY = 20, LIFE_EVERY = 5; // seconds: a why is a plan of its own

// What is asked again when `revision` changes; the old answer stays until the new one is there.
export function useAnswer(path, revision) {
  const [answer, setAnswer] = useState({ path: null, data: null, error: null });
  useEffect(() => {
    let gone = false;
    getJSON(path).then((data) => { if (!gone) setAnswer({ path, data, error: null }); },
      (e) => { if (!gone) setAnswer({ path, data: null, error: e.message }); });
    return () => { gone = true; };
  }, [path, revision]);
  return answer.path === path ? answer : { data: null, error: null };
}

function Lines({ title, list }) {
  return list && list.length > 0 && html`<h3>${title}</h3><ul class="reasons">${list.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function Why({ unit }) {
  const { data, error } = useAnswer(`api/explain?of=${encodeURIComponent(unit)}`, useSeconds(WHY_EVERY));
  if (error) return html`<${Problem} error=${error} hint="Is the name right? It may be gone; its life below stays as long as its decisions are kept." />`;
  if (!data) return html`<p class="note" role="status">Asking why…</p>`;
  return html`<div class="sheet why">
    <p class="answer"><span class=${`tag state-${data.state}`}>${data.state}</span> ${data.sentence}</p>
    ${data.details && data.details.length > 0 && html`<ul class="reasons">${data.details.map((d) => html`<li>${d}</li>`)}</ul>`}
    <${Lines} title="Waits for" list=${data.waitsFor} />
    <${Lines} title="What would help" list=${data.wouldHelp} />
    <${Lines} title="Not shown" list=${data.notShown} /></div>`;
}

const WORDS = { preempts: "preempted others", scheduled: "got its place", unschedulable: "found no place", gated: "was held back", waits: "waited for its victims" };

function Moment({ moment }) {
  const { role, outcome, others, pods } = moment;
  const what = role === "made way" ? `made way with ${plural(pods, "pod")} for` : WORDS[outcome] || outcome;
  return html`<li class=${role === "made way" ? "went" : outcome}>
    <span class="when">${clock(moment.time)}</span>
    <div><strong>${what}</strong>${others.slice(0, 6).map((name, i) => html`${i ? ", " : " "}<${UnitLink} unit=${name} />`)}${others.length > 6 && ` and ${others.length - 6} more`}
      ${moment.sentence && html`<p class="note">${moment.sentence}</p>`}
      <a href=${link("preemptions", { id: moment.id })}>the decision</a></div></li>`;
}

function Life({ unit }) {
  const { data, error } = useAnswer(`api/story?of=${encodeURIComponent(unit)}`, useSeconds(LIFE_EVERY));
  if (error) return html`<${Problem} error=${error} />`;
  if (!data) return null;
  return html`<h2>Its life, newest first</h2>
    ${!data.items.length && html`<${Empty}>No decision about it is kept.<//>`}
    ${data.items.length > 0 && html`<ol class="life">${data.items.map((moment) => html`<${Moment} moment=${moment} />`)}</ol>`}
    ${data.more > 0 && html`<p class="note">${plural(data.more, "older moment")} not shown.</p>`}`;
}

export function UnitView({ params }) {
  const unit = params.of || "";
  if (!unit) return html`<${Empty}>Which one? Choose a unit under Queue, Pod groups or Preemptions.<//>`;
  const group = unit.startsWith("PodGroup/") ? unit.slice("PodGroup/".length) : "";
  return html`<div class="toolbar"><h2 class="breaks">${unit}</h2>${group && html`<a href=${link("map", { group })}>Where it runs</a>`}</div>
    <${Why} unit=${unit} />
    <${Life} unit=${unit} />`;
}
