// Worker clusters, and for each workload sent to them: where it runs, or whose turn it is and until when, and what was before.
import { html } from "../vendor/htm-preact.js";
import { age, thousands, keyNamespace, mine, span } from "../lib.js";
import { link, useSeconds } from "../live.js";
import { Empty, UnitLink, When, useMore } from "../parts.js";
import { Table } from "../table.js";

const ClusterLink = ({ name }) => html`<a href=${link("fleet", { cluster: name })} title=${`Workloads of ${name}`}>${name}</a>`;
const ClusterLinks = ({ names }) => (names.length ? names.map((name, i) => html`${i ? ", " : ""}<${ClusterLink} name=${name} />`) : "–");

function Gate({ gate, now }) {
  if (gate.position === "Closed") {
    return html`<li><${ClusterLink} name=${gate.cluster} />: closed${gate.lastTurn && html`; it had its turn at <${When} iso=${gate.lastTurn} />`}</li>`;
  }
  const begun = Date.parse(gate.since), ends = Date.parse(gate.until);
  const left = (ends - now) / 1000;
  return html`<li class="open"><${ClusterLink} name=${gate.cluster} />: may preempt, for ${age(gate.since, now)} now${left > 0 ? `; the next cluster's turn in ${span(left)}` : "; its time is up"}
    <span class="meter" aria-hidden="true"><span style=${{ width: `${Math.min(100, Math.max(0, (100 * (now - begun)) / Math.max(1, ends - begun)))}%` }}></span></span></li>`;
}

// Undecided: the gates. Decided: only what was, and no turn to come.
function Turns({ workload, now }) {
  if (workload.gates.length) return html`<ul class="gates">${workload.gates.map((g) => html`<${Gate} gate=${g} now=${now} />`)}</ul>`;
  if (!workload.past.length) return workload.cluster ? "no cluster had to preempt for it" : "–";
  return html`<span>was the turn of ${workload.past.map((t, i) => html`${i ? ", then of " : ""}<${ClusterLink} name=${t.cluster} /> at <${When} iso=${t.time} />`)}</span>`;
}

function Clusters({ list, picked }) {
  return html`<${Table} shown caption="Worker clusters" picked=${picked} rows=${list.map((c) => ({ key: c.name, ...c }))} columns=${[
    { title: "Cluster", cell: (c) => html`<${ClusterLink} name=${c.name} />` },
    { title: "Connection", cell: (c) => html`<span class=${`tag ${c.connected ? "good" : "bad"}`}>${c.connected ? "connected" : c.reason || "unknown"}</span>` },
    { title: "Runs", number: true, cell: (c) => c.running },
    { title: "Being tried", number: true, cell: (c) => c.tried },
    { title: "Its page", cell: (c) => (c.page ? html`<a href=${c.page} rel="noreferrer" aria-label=${`The page of ${c.name}`}>open</a>` : html`<span class="note" title="The annotation reprieve.dev/page of its MultiKueueCluster names the address">not known</span>`) },
    { title: "Message", wide: true, cell: (c) => c.message || "–" },
  ]} />`;
}

export function FleetView({ state, params }) {
  const now = useSeconds();
  const [limit, more] = useMore(100);
  const { clusters, workloads, total } = state.fleet;
  const { cluster } = params;
  if (!clusters.length) return html`<${Empty}>One cluster only. <code>reprieve up --workers 3</code> starts a manager with three workers.<//>`;
  const shown = workloads.filter((w) => mine(params, keyNamespace(w.workload), w.team) && (!cluster || w.cluster === cluster || w.nominated.includes(cluster)));
  return html`
    ${cluster && html`<div class="toolbar"><span>Workloads of <strong>${cluster}</strong> <a href=${link("fleet")}>Show all clusters</a></span></div>`}
    <${Clusters} list=${clusters} picked=${cluster} />
    ${!shown.length && html`<${Empty}>${workloads.length ? "No workload of this namespace, team or cluster is sent out." : "No workload is sent out. Create one in a queue whose admission check is the fleet's."}<//>`}
    ${shown.length > 0 && html`<${Table} shown caption="Workloads sent out, undecided ones first" rows=${shown.slice(0, limit).map((w) => ({ key: w.workload, ...w }))} columns=${[
      { title: "Workload", cell: (w) => html`<${UnitLink} unit=${`Workload/${w.workload}`} text=${w.workload} />` },
      { title: "Runs in", cell: (w) => (w.cluster ? html`<${ClusterLink} name=${w.cluster} />` : "–") },
      { title: "Tried in", cell: (w) => html`<${ClusterLinks} names=${w.nominated} />` },
      { title: "Whose turn", wide: true, cell: (w) => html`<${Turns} workload=${w} now=${now} />` },
    ]} />`}
    ${more(shown.length, "workloads")}${total > workloads.length && html`<p class="note">${thousands(total - workloads.length)} decided workloads are not listed.</p>`}`;
}
