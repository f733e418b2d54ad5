// What is shown, and how numbers are written. Everything that is drawn follows `look`.
const page = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3]];

const MINUTE = 60, HOUR = 3600, DAY = 86400;
function span(s) {
  if (s < 10) return `${Math.round(s * 10) / 10} s`;
  for (const [size, name, small, smallName] of [[DAY, "d", HOUR, "h"], [HOUR, "h", MINUTE, "min"], [MINUTE, "min", 1, "s"]]) {
    const steps = Math.round(Math.round(s) / small), per = size / small;
    if (steps < per) continue;
    return `${Math.floor(steps / per)} ${name}${steps % per ? ` ${steps % per} ${smallName}` : ""}`;
  }
  return `${Math.round(s)} s`;
}
function moment(s) {
  const whole = Math.round(s), two = (n) => String(n).padStart(2, "0"), rest = whole % DAY;
  const clock = `${two(Math.floor(rest / HOUR))}:${two(Math.floor((rest % HOUR) / MINUTE))}:${two(rest % MINUTE)}`;
  return whole >= DAY ? `${Math.floor(whole / DAY)} d ${clock}` : clock;
}
const amount = (n) => (n >= 100 ? Math.round(n).toLocaleString("en") : String(Number(n.toPrecision(3))));
const percent = (x) => `${(100 * x).toFixed(1)} %`;

// Marks on an axis of time: round steps, at most so many.
const STEPS = [0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 604800, 1209600, 2419200];
const stepFor = (width, most) => STEPS.find((step) => width / step <= most) || Math.ceil(width / most / 2419200) * 2419200;
function mark(s, step) {
  if (step >= DAY) return `${Math.round(s / DAY)} d`;
  if (step < 1) return `${Number(s.toFixed(3))} s`;
  const rest = Math.round(s % DAY), two = (n) => String(n).padStart(2, "0");
  const clock = `${two(Math.floor(rest / HOUR))}:${two(Math.floor((rest % HOUR) / MINUTE))}${step < MINUTE ? `:${two(rest % MINUTE)}` : ""}`;
  return rest === 0 && s >= DAY ? `${Math.round(s / DAY)} d` : clock;
}

// One span of time, and of nodes, for all that is drawn; changes are drawn once a frame.
const look = { from: 0, to: page.end, top: 0, bottom: 1, job: -1, followers: [], due: false };
const MAX_NODES = page.gantt ? page.gantt.nodes.length : 1, FINEST = Math.max(page.end / 1e6, 0.01);
look.bottom = MAX_NODES;
function redraw() {
  if (look.due) return;
  look.due = true;
  requestAnimationFrame(() => { look.due = false; inTurn([...look.followers]); });
}
// One after the other, so that the page answers in between; whoever is left waits for the next frame if one is due.
function inTurn(left) {
  if (look.due || !left.length) return;
  left.shift()();
  setTimeout(inTurn, 0, left);
}
function within(from, to, low, high, least) {
  const width = Math.min(Math.max(to - from, least), high - low), middle = (from + to) / 2;
  const start = Math.min(Math.max(low, middle - width / 2), high - width);
  return [start, start + width];
}
function lookAt(from, to, top = look.top, bottom = look.bottom) {
  [look.from, look.to] = within(from, to, 0, page.end, FINEST);
  [look.top, look.bottom] = within(top, bottom, 0, MAX_NODES, Math.min(1, MAX_NODES));
  redraw();
}
function zoom(factor, at = (look.from + look.to) / 2) { lookAt(at - (at - look.from) * factor, at + (look.to - at) * factor); }
function move(share, down = 0) {
  const dx = share * (look.to - look.from), dy = down * (look.bottom - look.top);
  lookAt(look.from + dx, look.to + dx, look.top + dy, look.bottom + dy);
}
function tall(factor, at = (look.top + look.bottom) / 2) { lookAt(look.from, look.to, at - (at - look.top) * factor, at + (look.bottom - at) * factor); }
const LOOKS = {
  all: () => lookAt(0, page.end, 0, MAX_NODES), in: () => zoom(0.5), out: () => zoom(2), earlier: () => move(-0.5), later: () => move(0.5),
  taller: () => tall(0.5), flatter: () => tall(2),
};
