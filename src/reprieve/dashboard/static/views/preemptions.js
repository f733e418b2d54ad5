// The timeline of decisions, and everything about one of them.
import { html, useState, useEffect, useRef, getJSON, clock, plural, Alternatives, Empty, Problem, Table } from "../lib.js";
import uPlot from "../vendor/uPlot.js";

function Timeline({ revision }) {
  const box = useRef(), plot = useRef();
  const [points, setPoints] = useState(0);
  useEffect(() => {
    let gone = false;
    getJSON("api/history").then(({ time, pending, victims }) => {
      if (gone || !box.current) return;
      setPoints(time.length);
      const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink-2").trim();
      const axis = { stroke: ink, grid: { stroke: "#8883", width: 1 }, ticks: { stroke: "#8883" } };
      const data = [time, pending, victims];
      if (plot.current) { plot.current.setData(data); return; }
      plot.current = new uPlot({
        width: box.current.clientWidth, height: 180, legend: { live: true },
        series: [{}, { label: "pods waiting", stroke: "#3c6fd1", width: 2 }, { label: "victims", stroke: "#c2452d", width: 2, fill: "#c2452d33" }],
        axes: [axis, { ...axis, size: 44 }],
      }, data, box.current);
    }, () => {});
    return () => { gone = true; };
  }, [revision]);
  useEffect(() => {
    const fit = () => plot.current && plot.current.setSize({ width: box.current.clientWidth, height: 180 });
    addEventListener("resize", fit);
    return () => { removeEventListener("resize", fit); plot.current && plot.current.destroy(); };
  }, []);
  return html`<figure class="chart"><div ref=${box}></div>
    <figcaption class="note">${points < 2 ? "The history fills as time passes." : "Pods waiting and victims over time."}</figcaption></figure>`;
}

function Decision({ id, onClose }) {
  const [d, setD] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    setD(null); setError(null);
    getJSON(`api/decisions/${encodeURIComponent(id)}`).then(setD, (e) => setError(e.message));
  }, [id]);
  return html`<section class="detail" aria-label="Decision">
    <div class="detail-head"><h2>${d ? d.sentence : "Decision"}</h2><button onClick=${onClose}>Close</button></div>
    ${error && html`<${Problem} error=${error} hint="Old decisions leave the ring; see records.path in the configuration to keep them." />`}
    ${d && html`
      <p class="note">${clock(d.time)} · ${d.durationMs} ms · cluster revision ${d.revision}</p>
      ${d.reasons.length > 0 && html`<ul class="reasons">${d.reasons.map((r) => html`<li>${r}</li>`)}</ul>`}
      ${d.victims.length > 0 && html`<${Table} caption=${plural(d.victims.length, "victim")} rows=${d.victims.map((v) => ({ key: v.pod || v.workload, ...v }))} columns=${[
        { title: "Victim", cell: (v) => v.pod || v.workload },
        { title: "Unit", cell: (v) => v.unit || "–" },
        { title: "Node", cell: (v) => v.node || "–" },
        { title: "Priority", number: true, cell: (v) => v.priority ?? "–" },
        { title: "Budget", cell: (v) => (v.violatesBudget ? "violated" : "kept") },
        { title: "Why", wide: true, cell: (v) => v.reason },
      ]} />`}
      ${d.cost && Object.keys(d.cost).length > 0 && html`<dl class="facts">${Object.entries(d.cost).map(([k, v]) => html`<div><dt>${k}</dt><dd>${v ?? "–"}</dd></div>`)}</dl>`}
      ${Object.keys(d.placements).length > 0 && html`<${Table} caption="Placements" rows=${Object.entries(d.placements).map(([pod, node]) => ({ key: pod, pod, node }))} columns=${[
        { title: "Pod", cell: (p) => p.pod }, { title: "Node", cell: (p) => p.node }]} />`}
      <${Alternatives} title="What else was possible" list=${d.alternatives} />`}
  </section>`;
}

export function PreemptionsView({ state, path }) {
  const [list, setList] = useState(null);
  const [error, setError] = useState(null);
  const [picked, setPicked] = useState(path[0] || null);
  useEffect(() => {
    getJSON("api/decisions?limit=200").then((d) => { setList(d.items); setError(null); }, (e) => setError(e.message));
  }, [state.revision]);
  return html`
    <${Timeline} revision=${state.revision} />
    ${error && html`<${Problem} error=${error} hint="Decisions are kept by a running controller: reprieve run, or reprieve up." />`}
    ${picked && html`<${Decision} id=${picked} onClose=${() => setPicked(null)} />`}
    ${list && !list.length && html`<${Empty}>No decision has been taken yet.<//>`}
    ${list && list.length > 0 && html`<${Table} caption="Decisions, newest first" picked=${picked} onPick=${(d) => setPicked(d.key)}
      rows=${list.map((d) => ({ key: d.id, ...d }))} columns=${[
        { title: "When", cell: (d) => clock(d.time) },
        { title: "For", cell: (d) => d.for },
        { title: "Outcome", cell: (d) => html`<span class=${`tag outcome-${d.outcome}`}>${d.outcome}</span>` },
        { title: "Victims", number: true, cell: (d) => d.victims },
        { title: "Took", number: true, cell: (d) => `${d.durationMs} ms` },
        { title: "In one sentence", wide: true, cell: (d) => d.sentence },
      ]} />`}`;
}
