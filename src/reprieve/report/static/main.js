// Puts the parts together: theme, buttons, search, tabs.
let drawn = null; // jobs and runs, once the nodes have been read
let asked = null; // for what, meanwhile
const onceDrawn = (act) => { if (drawn) act(); else asked = act; };

function theme(name) {
  document.documentElement.dataset.theme = name;
  known = null;
  by("theme").textContent = name === "dark" ? "Light" : "Dark";
  charts.forEach((each) => each.redraw(false, true));
  redraw();
}

function choose(job) {
  look.job = job;
  redraw();
  const box = by("found");
  box.replaceChildren();
  if (job < 0 || !drawn) return;
  const { jobs, runs } = drawn, add = (tag, text, to = box) => to.appendChild(Object.assign(document.createElement(tag), { textContent: text }));
  add("h3", jobs.names[job]);
  add("p", `${about(jobs, job)}; submitted at ${moment(jobs.submit[job] * page.gantt.step)}.`);
  runs.forEach((run, i) => {
    add("p", `${page.policies[i]}:`);
    const list = add("ul", ""), found = stretchesOf(run, job);
    found.slice(0, 20).forEach((stretch) => add("li", told(run, jobs, stretch), list));
    if (!found.length) add("li", "It never ran.", list);
    if (found.length > 20) add("li", `and ${found.length - 20} more runs`, list);
  });
}
function stretchesOf(run, job) {
  const found = [];
  for (let i = run.job.indexOf(job); i >= 0; i = run.job.indexOf(job, i + 1)) found.push(i);
  return found.sort((a, b) => run.begin[a] - run.begin[b]);
}
// To where it ran, under the first configuration in which it did.
function show(job) {
  choose(job);
  const run = drawn.runs.find((each) => each.job.indexOf(job) >= 0);
  if (!run) return;
  const step = page.gantt.step, found = stretchesOf(run, job), last = found[found.length - 1];
  const begin = run.begin[found[0]] * step, end = (run.begin[last] + run.length[last]) * step, room = Math.max(0.3 * (end - begin), page.end / 500);
  lookAt(begin - room, end + room, 0, MAX_NODES);
}
function search(text) {
  const names = drawn.jobs.names, exact = names.indexOf(text), wanted = text.toLowerCase();
  const job = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase().startsWith(wanted));
  if (text && job >= 0) return show(job);
  choose(-1);
  by("found").textContent = text ? `No job is called, or begins with, "${text}".` : "";
  return undefined;
}

function legend() {
  const item = (mark, text) => {
    const li = document.createElement("li"), svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    svg.setAttribute("viewBox", "0 0 12 12");
    svg.setAttribute("aria-hidden", "true");
    rect.setAttribute("width", mark === "end" ? "3" : "12");
    rect.setAttribute("height", "12");
    rect.setAttribute("class", mark);
    svg.append(rect);
    li.append(svg, text);
    by("legend").append(li);
  };
  page.classes.forEach((name, i) => item(`c${i % 8}`, `class ${name}`));
  item("end", "had to stop here");
  item("free", "free");
  const { allNodes, nodes, undrawn } = page.gantt, say = (text) => by("legend").append(Object.assign(document.createElement("li"), { textContent: text }));
  if (nodes.length < allNodes) say(`drawn: the first ${nodes.length} of ${allNodes} nodes`);
  if (undrawn) say(`not drawn: ${undrawn.toLocaleString("en")} jobs that ask for no ${page.unit}`);
}

async function drawNodes() {
  legend();
  const jobs = await readJobs(page.gantt.jobs), runs = [];
  for (const [place, run] of page.gantt.runs.entries()) {
    runs.push(await readRun(run, MAX_NODES));
    new Gantt(place, runs[place], jobs);
  }
  drawn = { jobs, runs };
  redraw();
  if (asked) asked();
  by("gantts").dataset.ready = "true";
}

function tabs() {
  const panels = page.policies.map((_, i) => by(`cases-${i}`));
  if (panels.length < 2) return;
  const pick = (shown) => panels.forEach((panel, i) => { panel.hidden = i !== shown; buttons[i].setAttribute("aria-pressed", String(i === shown)); });
  const buttons = page.policies.map((name, i) => Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: () => pick(i) }));
  by("case-tabs").append(...buttons);
  pick(0);
}

function begin() {
  document.documentElement.classList.add("alive");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let before = "";
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  by("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; theme("light"); look.followers.forEach((follow) => follow()); });
  addEventListener("afterprint", () => theme(before));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-look], [data-job]");
    if (!button) return;
    if (button.dataset.look) return LOOKS[button.dataset.look]();
    onceDrawn(() => { show(Number(button.dataset.job)); by("nodes").scrollIntoView(); });
  });
  by("search").addEventListener("submit", (event) => { event.preventDefault(); onceDrawn(() => search(by("job").value.trim())); });
  tabs();
  drawCharts();
  redraw();
  if (!page.gantt) by("nodes").hidden = true;
  else if (typeof DecompressionStream === "undefined") by("gantts").textContent = "This browser is too old to unpack the nodes (it has no DecompressionStream); a version of 2023 or later can.";
  else drawNodes();
}
begin();
