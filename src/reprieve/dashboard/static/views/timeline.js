// The last hours as a chart: pods that wait, pods that had to go. Drag to zoom; the buttons do the same for keys and fingers.
import { html, useState, useEffect, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { clock, getJSON, plural } from "../lib.js";

const SPANS = [["15 minutes", 900], ["1 hour", 3600], ["6 hours", 21600]];
const EVERY = 5000, KEEP = 21600, HEIGHT = 190;
const css = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// All samples of the last six hours; only the new ones are fetched.
function useHistory() {
  const [data, setData] = useState([[], [], []]);
  useEffect(() => {
    let gone = false, known = [[], [], []];
    const more = async () => {
      if (document.hidden) return;
      try {
        const last = known[0][known[0].length - 1] || 0;
        const { time, pending, victims } = await getJSON(`api/history?since=${last}`);
        if (gone || !time.length) return;
        const all = [[...known[0], ...time], [...known[1], ...pending], [...known[2], ...victims]];
        const from = Math.max(0, all[0].findIndex((t) => t > time[time.length - 1] - KEEP));
        known = all.map((column) => column.slice(from));
        setData(known);
      } catch { /* the page says elsewhere that nobody answers */ }
    };
    more();
    const timer = setInterval(more, EVERY);
    return () => { gone = true; clearInterval(timer); };
  }, []);
  return data;
}

const upTo = (_, __, max) => [0, Math.max(5, max * 1.05)];
const amounts = { size: 58, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000] };

// Waiting pods and victims have an axis each: thousands of the first would hide a few of the second.
function draw(uPlot, box, onZoom) {
  const axis = { stroke: css("--ink-2"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line") } };
  return new uPlot({
    width: box.clientWidth, height: HEIGHT, legend: { live: true }, cursor: { drag: { x: true, y: false, setScale: false } },
    scales: { y: { range: upTo }, v: { range: upTo } },
    series: [{ value: (_, t) => (t ? new Date(t * 1000).toLocaleTimeString([], { hour12: false }) : "–") },
      { label: "pods waiting", stroke: css("--own"), width: 2, value: (_, v) => v ?? "–" },
      { label: "victims", scale: "v", stroke: css("--bad"), width: 1, fill: css("--bad-wash"), value: (_, v) => v ?? "–" }],
    axes: [{ ...axis, values: "{HH}:{mm}:{ss}", space: 70 }, { ...axis, ...amounts, stroke: css("--own") },
      { ...axis, ...amounts, scale: "v", side: 1, grid: { show: false }, stroke: css("--bad") }],
    hooks: { setSelect: [(u) => {
      if (u.select.width > 4) onZoom([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }] },
  }, [[], [], []], box);
}

export function Timeline({ range, onRange }) {
  const box = useRef(), plot = useRef(), latest = useRef();
  latest.current = (change) => onRange({ ...range, ...change });
  const data = useHistory();
  const last = data[0][data[0].length - 1] || Date.now() / 1000;
  const [from, to] = range.zoom || [last - range.span, last];
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    const watch = new ResizeObserver(() => plot.current.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    let gone = false;
    // Half of all code, for this one view: it is fetched when it is needed.
    import("../vendor/uPlot.js").then(({ default: uPlot }) => {
      if (gone) return;
      plot.current = draw(uPlot, box.current, (zoom) => latest.current({ zoom }));
      watch.observe(box.current);
      setDrawn(true);
    });
    return () => { gone = true; watch.disconnect(); if (plot.current) plot.current.destroy(); };
  }, []);
  useLayoutEffect(() => { if (drawn) { plot.current.setData(data, false); plot.current.setScale("x", { min: from, max: to }); } }, [data, from, to, drawn]);
  const inside = data[0].map((t, i) => (t >= from && t <= to ? i : -1)).filter((i) => i >= 0);
  const victims = inside.reduce((sum, i) => sum + data[2][i], 0);
  const most = inside.reduce((max, i) => Math.max(max, data[1][i] || 0), 0);
  const summary = data[0].length < 2 ? "The history fills as time passes." : `${data[0][0] > from + EVERY / 1000 ? `Since ${clock(data[0][0] * 1000)}` : "In this time"} ${plural(victims, "pod")} ${victims === 1 ? "was" : "were"} preempted; at most ${plural(most, "pod")} waited.`;
  return html`<figure class="chart" aria-label="Pods waiting and victims over time">
    <div class="toolbar">${SPANS.map(([name, span]) => html`<button aria-pressed=${!range.zoom && range.span === span} onClick=${() => onRange({ span, zoom: null })}>${name}</button>`)}
      ${range.zoom && html`<button onClick=${() => onRange({ ...range, zoom: null })}>Reset the zoom</button>`}</div>
    <div ref=${box} class="plot" aria-hidden="true"></div>
    <figcaption class="note">${summary} Drag over the chart to zoom.</figcaption></figure>`;
}
