// Worker clusters, and for each dispatched workload which gate is open, since when, and until when.
import { html } from "../vendor/htm-preact.js";
import { age, clock, span } from "../lib.js";
import { useSeconds } from "../live.js";
import { Table, Empty, useMore } from "../parts.js";

function Gate({ gate, now }) {
  if (gate.position === "Closed") {
    return html`<li>${gate.cluster}: closed${gate.lastTurn ? `; it had its turn at ${clock(gate.lastTurn)}` : ""}</li>`;
  }
  const begun = Date.parse(gate.since), ends = Date.parse(gate.until);
  const left = (ends - now) / 1000;
  return html`<li class="open">${gate.cluster}: may preempt, for ${age(gate.since, now)} now${left > 0 ? `; the next cluster's turn in ${span(left)}` : "; its time is up"}
    <span class="meter" aria-hidden="true"><span style=${{ width: `${Math.min(100, Math.max(0, (100 * (now - begun)) / Math.max(1, ends - begun)))}%` }}></span></span></li>`;
}

export function FleetView({ state }) {
  const now = useSeconds();
  const [limit, more] = useMore(100);
  const { clusters, workloads, total } = state.fleet;
  if (!clusters.length) return html`<${Empty}>One cluster only. <code>reprieve up --workers 3</code> starts a manager with three workers.<//>`;
  return html`
    <${Table} shown caption="Worker clusters" rows=${clusters.map((c) => ({ key: c.name, ...c }))} columns=${[
      { title: "Cluster", name: true, cell: (c) => c.name },
      { title: "Connection", cell: (c) => html`<span class=${`tag ${c.connected ? "good" : "bad"}`}>${c.connected ? "connected" : c.reason || "unknown"}</span>` },
      { title: "Message", wide: true, cell: (c) => c.message || "–" },
    ]} />
    ${!workloads.length && html`<${Empty}>No workload is being dispatched.<//>`}
    ${workloads.length > 0 && html`<${Table} shown caption="Dispatched workloads, undecided ones first" rows=${workloads.slice(0, limit).map((w) => ({ key: w.workload, ...w }))} columns=${[
      { title: "Workload", name: true, cell: (w) => w.workload },
      { title: "Runs in", name: true, cell: (w) => w.cluster || "–" },
      { title: "Tried in", cell: (w) => w.nominated.join(", ") || "–" },
      { title: "Gates", wide: true, cell: (w) => (w.gates.length ? html`<ul class="gates">${w.gates.map((g) => html`<${Gate} gate=${g} now=${now} />`)}</ul>` : "–") },
    ]} />`}
    ${more(Math.min(total, workloads.length), "workloads")}`;
}
