// Paste manifests, see the plan: who would make way, before anything is submitted.
import { html, useState, getJSON, plural, Alternatives, Problem, Table } from "../lib.js";

const SAMPLE = `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  priority: 1000
  containers:
  - {name: main, image: busybox, resources: {requests: {cpu: "2", memory: 2Gi}}}
`;

function Plan({ plan }) {
  const victims = plan.victims || [];
  return html`<section class="detail" aria-label="Plan" aria-live="polite">
    <h2><span class=${`tag outcome-${plan.outcome || plan.mode}`}>${plan.outcome || plan.mode}</span> ${plan.for}</h2>
    ${(plan.reasons || []).length > 0 && html`<ul class="reasons">${plan.reasons.map((r) => html`<li>${r}</li>`)}</ul>`}
    ${victims.length > 0 && html`<${Table} caption=${`${plural(victims.length, "victim")} would make way`} rows=${victims.map((v) => ({ key: v.pod || v.workload, ...v }))} columns=${[
      { title: "Victim", cell: (v) => v.pod || v.workload }, { title: "Unit", cell: (v) => v.unit || "–" }, { title: "Node", cell: (v) => v.node || "–" },
      { title: "Priority", number: true, cell: (v) => v.priority ?? "–" }, { title: "Why", wide: true, cell: (v) => v.reason }]} />`}
    ${Object.keys(plan.placements || {}).length > 0 && html`<${Table} caption="Placements" rows=${Object.entries(plan.placements).map(([pod, node]) => ({ key: pod, pod, node }))}
      columns=${[{ title: "Pod", cell: (p) => p.pod }, { title: "Node", cell: (p) => p.node }]} />`}
    <${Alternatives} title="Other ways" list=${plan.alternatives} />
  </section>`;
}

export function WhatIfView() {
  const [manifest, setManifest] = useState(SAMPLE);
  const [target, setTarget] = useState("");
  const [answer, setAnswer] = useState({});
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
  return html`<form class="whatif" onSubmit=${ask}>
      <label for="manifest">Manifests (YAML or JSON), planned on top of the present cluster. Nothing is created.</label>
      <textarea id="manifest" rows="12" spellcheck=${false} value=${manifest} onInput=${(e) => setManifest(e.target.value)}></textarea>
      <div class="toolbar">
        <label>Plan for <input value=${target} onInput=${(e) => setTarget(e.target.value)} placeholder="the only unit above" /></label>
        <button class="primary" disabled=${answer.busy}>${answer.busy ? "Planning…" : "Who would make way?"}</button>
      </div>
    </form>
    ${answer.error && html`<${Problem} error=${answer.error} hint="Name the unit as KIND/NAMESPACE/NAME, for instance PodGroup/ml/train." />`}
    ${answer.plan && html`<${Plan} plan=${answer.plan} />`}`;
}
