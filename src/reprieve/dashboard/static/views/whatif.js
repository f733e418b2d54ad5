// Paste manifests, see the plan: who would make way, before anything is submitted.
import { html, useState, useEffect, useRef } from "../vendor/htm-preact.js";
import { getJSON } from "../lib.js";
import { Problem } from "../parts.js";
import { Alternatives, Budgets, Cost, Placements, Reasons, Reprieved, Victims, Volumes } from "../plan_parts.js";

const SAMPLE = `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  priority: 1000
  containers:
  - {name: main, image: busybox, resources: {requests: {cpu: "2", memory: 2Gi}}}
`;

// What was typed survives a look at another view.
const kept = { manifest: SAMPLE, target: "", answer: {} };

function Plan({ plan }) {
  const heading = useRef();
  useEffect(() => heading.current.focus({ preventScroll: false }), [plan]);
  const outcome = plan.outcome || plan.mode;
  return html`<section class="sheet" aria-label="Plan">
    <h2 tabindex="-1" ref=${heading}><span class=${`tag outcome-${outcome}`}>${outcome}</span> ${plan.for}</h2>
    <${Reasons} list=${plan.reasons} />
    <${Cost} cost=${plan.cost} />
    ${plan.flavors && html`<h3>Flavors</h3><ul class="reasons">${Object.entries(plan.flavors).map(([set, flavors]) => html`<li>${set}: ${
      typeof flavors === "object" ? Object.entries(flavors).map(([r, f]) => `${r} from ${f}`).join(", ") : flavors}</li>`)}</ul>`}
    <${Victims} list=${plan.victims} verb="would make way" />
    <${Reprieved} list=${plan.reprieved} />
    <${Budgets} list=${plan.budgets} />
    <${Placements} placements=${plan.placements} caption="Where it would go" />
    <${Volumes} volumes=${plan.volumes} />
    <${Alternatives} title="Other ways" list=${plan.alternatives} />
  </section>`;
}

export function WhatIfView() {
  const [manifest, setManifest] = useState(kept.manifest);
  const [target, setTarget] = useState(kept.target);
  const [answer, setAnswer] = useState(kept.answer);
  Object.assign(kept, { manifest, target, answer: answer.busy ? {} : answer });
  const ask = async (event) => {
    event.preventDefault();
    setAnswer({ busy: true });
    try {
      const body = JSON.stringify({ manifest, for: target });
      setAnswer({ plan: await getJSON("api/plan", { method: "POST", headers: { "content-type": "application/json" }, body }) });
    } catch (e) {
      setAnswer({ error: e.message });
    }
  };
  const quickly = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event); };
  return html`<form class="whatif" onSubmit=${ask} onKeyDown=${quickly}>
      <label for="manifest">Manifests (YAML or JSON), planned on top of the present cluster. Nothing is created.</label>
      <textarea id="manifest" rows="12" spellcheck=${false} value=${manifest} onInput=${(e) => setManifest(e.target.value)}></textarea>
      <div class="toolbar">
        <label>Plan for <input value=${target} onInput=${(e) => setTarget(e.target.value)} placeholder="the only unit above" /></label>
        <button class="primary" disabled=${answer.busy}>${answer.busy ? "Planning…" : "Who would make way?"}</button>
        <span class="note">or Ctrl+Enter</span>
      </div>
    </form>
    ${answer.error && html`<${Problem} error=${answer.error} hint="Name the unit as KIND/NAMESPACE/NAME, for instance PodGroup/ml/train." />`}
    ${answer.plan && html`<${Plan} plan=${answer.plan} />`}`;
}
