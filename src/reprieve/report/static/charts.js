// Use, queue and waiting as line charts; the same colour and dash for a configuration everywhere.
const charts = [];
const colour = (i) => css(`--p${i % 8}`);
const line = (i, value) => ({ label: page.policies[i], stroke: () => colour(i), width: 1.6, dash: DASHES[i % 4], points: { show: false }, value });
const axis = () => ({ stroke: () => css("--ink-2"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 } });

function chart(box, options, data) {
  const made = new uPlot({ width: box.clientWidth, height: 190, ...options }, data, box);
  made.root.setAttribute("aria-hidden", "true");
  new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: options.height || 190 })).observe(box);
  charts.push(made);
  return made;
}

function timeChart(box, lines, value, range, size) {
  const timeAxis = { ...axis(), splits: (u, i, min, max) => {
    const step = stepFor(max - min, Math.max(2, Math.floor(u.width / 90))), found = [];
    for (let at = Math.ceil(min / step) * step; at <= max; at += step) found.push(at);
    return found;
  }, values: (u, splits) => splits.map((s) => mark(s, splits.length > 1 ? splits[1] - splits[0] : 1)) };
  const made = chart(box, {
    scales: { x: { time: false }, y: { range } }, cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, y: false },
    axes: [timeAxis, { ...axis(), size, values: (u, all) => all.map(value) }],
    series: [{ label: "time", value: (u, s) => (s == null ? "–" : moment(s)) }, ...lines.map((_, i) => line(i, (u, v) => (v == null ? "–" : value(v))))],
    hooks: { setSelect: [(u) => {
      if (u.select.width > 4) lookAt(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }] },
  }, [page.time, ...lines]);
  look.followers.push(() => made.setScale("x", { min: look.from, max: look.to }));
  made.over.addEventListener("dblclick", LOOKS.all);
}

const SPLITS = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400];
const FEW = [1, 60, 3600, 86400, 30 * 86400];
function waitingChart(box, lines) {
  chart(box, {
    height: 230, scales: { x: { time: false, distr: 3 }, y: { range: [0, 1] } }, cursor: { sync: { key: "cdf" }, drag: { x: false, y: false }, y: false },
    axes: [{ ...axis(), splits: (u, i, min, max) => (u.width < 360 ? FEW : SPLITS).filter((s) => s >= min && s <= max), filter: (u, s) => s, values: (u, all) => all.map(span) },
      { ...axis(), size: 52, splits: () => [0, 0.25, 0.5, 0.75, 1], values: (u, all) => all.map((v) => `${100 * v} %`) }],
    series: [{ label: "within", value: (u, s) => (s == null ? "–" : span(s)) }, ...lines.map((_, i) => line(i, (u, v) => (v == null ? "–" : percent(v))))],
  }, [page.cdf.time, ...lines]);
}

function each(title, lines, say) {
  return lines.map((values, i) => `${page.policies[i]}: ${say(values)}`).join("; ") + title;
}

function drawCharts() {
  const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const top = (values) => Math.max(...values);
  const jobs = (v) => v.toFixed(v < 10 ? 1 : 0);
  if (page.capacity) timeChart(by("used"), page.used, (v) => `${Math.round(100 * v)} %`, [0, 1.02], 52);
  else by("used").parentElement.hidden = true;
  timeChart(by("queue"), page.waiting, amount, (u, min, max) => [0, Math.max(1, max * 1.05)], 52);
  by("used-said").textContent = each(" on average, to the end", page.used, (v) => percent(mean(v)));
  by("waiting-said").textContent = each("", page.waiting, (v) => `${jobs(mean(v))} on average, ${jobs(top(v))} in the busiest span`);
  page.classes.forEach((name, i) => {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption"), box = document.createElement("div");
    figure.className = "chart";
    caption.textContent = `Class ${name}`;
    figure.append(caption, box);
    by("cdf").append(figure);
    waitingChart(box, page.cdf.classes[i]);
  });
  look.followers.push(() => {
    const all = look.from <= 0 && look.to >= page.end;
    by("shown").textContent = all ? `All of it: ${span(page.end)}` : `${moment(look.from)} to ${moment(look.to)}: ${span(look.to - look.from)} of ${span(page.end)}`;
  });
}
