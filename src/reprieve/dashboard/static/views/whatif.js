// Paste manifests, see the plan: who would make way, before anything is submitted. Or what each algorithm would do.
import { html, useState, useEffect, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { getJSON, hours } from "../lib.js";
import { refine } from "../live.js";
import { Problem, Units } from "../parts.js";
import { Table } from "../table.js";
import { Alternatives, Budgets, Cost, Placements, Reasons, Reprieved, Victims, Volumes } from "../plan_parts.js";
import { pack, unpack } from "../share.js";

const SAMPLE = `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  priority: 1000
  containers:
  - {name: main, image: busybox, resources: {requests: {cpu: "2", memory: 2Gi}}}
`;

// What was typed survives a look at another view, and so does what was asked: `tell` is whoever shows the answer now.
const kept = { manifest: SAMPLE, target: "", answer: {}, link: "", tell: null };

function answered(answer) {
  kept.answer = answer;
  if (kept.tell) kept.tell(answer);
}

// An answer has the focus, but takes it from nobody who types.
function useSeen(answer) {
  const heading = useRef();
  useLayoutEffect(() => { if (!document.activeElement.matches("input, textarea")) heading.current.focus({ preventScroll: false }); }, [answer]);
  return heading;
}

function PodSets({ list }) {
  return list && list.length > 0 && html`<${Table} shown caption="Its pods" rows=${list.map((s) => ({ key: s.name, ...s }))} columns=${[
    { title: "Pod set", name: true, cell: (s) => s.name }, { title: "Fit", number: true, cell: (s) => `${s.placed} of ${s.count}` },
    { title: "Victims", number: true, cell: (s) => s.victims }, { title: "Why the next one does not", wide: true, cell: (s) => s.message || "–" }]} />`;
}

// A job's plans are one after the other; what they say in common is said for the job.
const whole = (plan) => (!plan.plans ? plan : { ...plan, victims: plan.plans.flatMap((p) => p.victims || []), reprieved: plan.plans.flatMap((p) => p.reprieved || []),
  budgets: plan.plans.flatMap((p) => p.budgets || []), placements: Object.assign({}, ...plan.plans.map((p) => p.placements || {})), ...(plan.plans.length === 1 && { cost: plan.plans[0].cost, alternatives: plan.plans[0].alternatives }) });

function Plan({ plan: given }) {
  const heading = useSeen(given);
  const plan = whole(given), outcome = plan.outcome || plan.mode;
  return html`<section class="sheet" aria-label="Plan">
    <h2 tabindex="-1" ref=${heading}><span class=${`tag outcome-${outcome}`}>${outcome}</span> ${plan.for}</h2>
    <${Reasons} list=${plan.reasons} about=${plan.for} />
    <${PodSets} list=${plan.podSets} />
    <${Cost} cost=${plan.cost} />
    ${plan.flavors && html`<h3>Flavors</h3><ul class="reasons">${Object.entries(plan.flavors).map(([set, flavors]) => html`<li>${set}: ${
      typeof flavors === "object" ? Object.entries(flavors).map(([r, f]) => `${r} from ${f}`).join(", ") : flavors}</li>`)}</ul>`}
    <${Victims} list=${plan.victims} verb="would make way" by=${plan.for} />
    <${Reprieved} list=${plan.reprieved} />
    <${Budgets} list=${plan.budgets} />
    <${Placements} placements=${plan.placements} caption="Where it would go" />
    <${Volumes} volumes=${plan.volumes} />
    <${Alternatives} title="Other ways" list=${plan.alternatives} />
  </section>`;
}

const lost = (p) => Object.entries(p.lostHours || {}).map(([r, h]) => `${hours(h)} ${r}-hours`).join(", ") || "nothing";

function Comparison({ answer }) {
  const heading = useSeen(answer);
  const rows = answer.plans.map((p) => ({ key: p.algorithm, ...p }));
  return html`<section class="sheet" aria-label="Comparison">
    <h2 tabindex="-1" ref=${heading}>${answer.for}: ${answer.cheapest ? `${answer.cheapest} costs least` : "no algorithm finds a place"}</h2>
    ${answer.common && answer.common.length > 0 && html`<p>With every algorithm <${Units} list=${answer.common} /> would make way.</p>`}
    <${Table} shown caption="What each algorithm would do" picked=${answer.cheapest} rows=${rows} columns=${[
      { title: "Algorithm", name: true, cell: (p) => p.algorithm },
      { title: "Outcome", cell: (p) => html`<span class=${`tag outcome-${p.outcome}`}>${p.outcome}</span>` },
      { title: "Units", number: true, cell: (p) => p.cost.units ?? "–" },
      { title: "Pods", number: true, cell: (p) => p.cost.pods ?? "–" },
      { title: "Budgets broken", number: true, cell: (p) => p.cost.budgetViolations ?? 0 },
      { title: "Work lost", cell: lost },
      { title: "Only here", wide: true, cell: (p) => (p.also.length ? html`<${Units} list=${p.also} />` : p.victims.length ? "nobody else" : p.message || "nobody would have to go") },
    ]} /><${Reasons} list=${answer.warnings} /></section>`;
}

// A shared what-if: the address holds the manifest, and for whom the plan is. It fills the form and is sent nowhere until somebody asks.
const shared = (packed, target) => `${packed} ${target}`;

function useShared({ manifest: packed, for: target = "" }, fill) {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let gone = false;
    const filled = (text) => { if (!gone) { kept.link = shared(packed, target); fill(text, target); } };
    setProblem("");
    if (packed && kept.link !== shared(packed, target)) unpack(packed).then(filled, (e) => { if (!gone) setProblem(e.message); });
    return () => { gone = true; };
  }, [packed, target]);
  return problem;
}

function Share({ manifest, target }) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [manifest, target]); // the link holds something else
  const share = async () => {
    try {
      const packed = await pack(manifest);
      kept.link = shared(packed, target);
      refine({ manifest: packed, for: target });
      const copied = navigator.clipboard && await navigator.clipboard.writeText(location.href).then(() => true, () => false);
      setSaid(copied ? "The link is copied, and in the address bar." : "The link is in the address bar: copy it from there.");
    } catch (e) { setSaid(`No link: ${e.message}.`); }
  };
  return html`<button type="button" onClick=${share}>Share as a link</button><span class="note" role="status">${said}</span>`;
}

export function WhatIfView({ params }) {
  const [manifest, setManifest] = useState(kept.manifest);
  const [target, setTarget] = useState(params.for || kept.target);
  const [answer, setAnswer] = useState(kept.answer);
  const damaged = useShared(params, (text, whom) => { setManifest(text); setTarget(whom); });
  useLayoutEffect(() => { kept.tell = setAnswer; return () => { kept.tell = null; }; }, []);
  Object.assign(kept, { manifest, target });
  const asked = JSON.stringify({ manifest, for: target });
  const ask = (path, key) => async (event) => {
    event.preventDefault();
    if (kept.answer.busy) return; // also by keys: else whichever answer comes last is shown
    answered({ busy: key });
    try {
      answered({ asked, [key]: await getJSON(path, { method: "POST", headers: { "content-type": "application/json" }, body: asked }) });
    } catch (e) {
      answered({ error: e.message });
    }
  };
  const plan = ask("api/plan", "plan"), compare = ask("api/compare", "comparison");
  const quickly = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) plan(event); };
  return html`${damaged && html`<${Problem} error=${damaged} hint="Ask whoever sent it for the whole link, or paste the manifest below." />`}
    <form class="whatif" onSubmit=${plan} onKeyDown=${quickly}>
      <label for="manifest">Manifests (YAML or JSON) of pods, groups, workloads or a job of any kind, planned on top of the present cluster. Nothing is created.</label>
      <textarea id="manifest" rows=${Math.min(24, Math.max(12, manifest.split("\n").length))} spellcheck=${false} value=${manifest} onInput=${(e) => setManifest(e.target.value)}></textarea>
      <div class="toolbar">
        <label>Plan for <input value=${target} onInput=${(e) => setTarget(e.target.value)} placeholder="the only unit above" /></label>
        <button class="primary" disabled=${answer.busy}>${answer.busy === "plan" ? "Planning…" : "Who would make way?"}</button>
        <button type="button" onClick=${compare} disabled=${answer.busy}>${answer.busy === "comparison" ? "Comparing…" : "Compare algorithms"}</button>
        <${Share} manifest=${manifest} target=${target} />
        <span class="note">Ctrl+Enter plans</span>
      </div>
    </form>
    ${answer.error && html`<${Problem} error=${answer.error} hint="Name the unit as KIND/NAMESPACE/NAME, for instance PodGroup/ml/train." />`}
    ${answer.asked && answer.asked !== asked && html`<p class="note" role="status">The manifests were changed since this was asked.</p>`}
    ${answer.plan && html`<${Plan} plan=${answer.plan} />`}
    ${answer.comparison && html`<${Comparison} answer=${answer.comparison} />`}`;
}
