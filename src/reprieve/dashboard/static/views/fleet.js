// Worker clusters, and for each dispatched workload which gate is open and since when.
import { html, useState, useEffect, age, Table, Empty } from "../lib.js";

function useSeconds() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => { const t = setInterval(() => setNow(Date.now()), 1000); return () => clearInterval(t); }, []);
  return now;
}

export function FleetView({ state }) {
  const now = useSeconds();
  const { clusters, workloads } = state.fleet;
  if (!clusters.length) return html`<${Empty}>One cluster only. <code>reprieve up --workers 3</code> starts a manager with three workers.<//>`;
  return html`
    <${Table} caption="Worker clusters" rows=${clusters.map((c) => ({ key: c.name, ...c }))} columns=${[
      { title: "Cluster", cell: (c) => c.name },
      { title: "Connection", cell: (c) => html`<span class=${`tag ${c.connected ? "good" : "bad"}`}>${c.connected ? "connected" : c.reason || "unknown"}</span>` },
      { title: "Message", wide: true, cell: (c) => c.message || "–" },
    ]} />
    ${!workloads.length && html`<${Empty}>No workload is being dispatched.<//>`}
    ${workloads.length > 0 && html`<${Table} caption="Dispatched workloads" rows=${workloads.map((w) => ({ key: w.workload, ...w }))} columns=${[
      { title: "Workload", cell: (w) => w.workload },
      { title: "Runs in", cell: (w) => w.cluster || "–" },
      { title: "Tried in", cell: (w) => w.nominated.join(", ") || "–" },
      { title: "Gates", wide: true, cell: (w) => (w.gates.length ? html`<ul class="gates">${w.gates.map((g) => html`<li class=${g.position.toLowerCase()}>
          ${g.cluster}: ${g.since ? `may preempt, for ${age(g.since, now)} now` : "closed"}</li>`)}</ul>` : "–") },
    ]} />`}`;
}
