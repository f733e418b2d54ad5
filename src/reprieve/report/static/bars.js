// The columns behind the nodes, and a picture of the visible ones, pixel by pixel: as fast for a million bars as for ten.
async function inflate(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}
function cutter(buffer) {
  let at = 0;
  return (Type, count) => { const found = new Type(buffer, at, count); at += count * Type.BYTES_PER_ELEMENT; return found; };
}
// In the order of report/gantt.py.
async function readJobs({ names, data, count, queues }) {
  const [text, buffer] = await Promise.all([inflate(names), inflate(data)]), cut = cutter(buffer);
  return { names: JSON.parse(new TextDecoder().decode(text)), queues, submit: cut(Uint32Array, count), size: cut(Float32Array, count), pods: cut(Uint32Array, count), queue: cut(Uint16Array, count), klass: cut(Uint8Array, count) };
}
async function readRun({ data, stretches, bars }, nodes) {
  const cut = cutter(await inflate(data));
  return { job: cut(Uint32Array, stretches), begin: cut(Uint32Array, stretches), length: cut(Uint32Array, stretches), by: cut(Uint32Array, stretches), offset: cut(Uint32Array, nodes + 1), stretch: cut(Uint32Array, bars), why: cut(Uint8Array, stretches), low: cut(Uint8Array, bars), high: cut(Uint8Array, bars) };
}

function packed(name) {
  const hex = css(name).slice(1), n = (i) => parseInt(hex.slice(i, i + 2), 16);
  return ((255 << 24) | (n(4) << 16) | (n(2) << 8) | n(0)) >>> 0;
}
const faded = (colour, ground) => [0, 8, 16].reduce((sum, s) => sum | (Math.round(0.25 * ((colour >>> s) & 255) + 0.75 * ((ground >>> s) & 255)) << s), 255 << 24) >>> 0;
let known = null; // until the theme changes
function inks() {
  known ||= mixed();
  return known;
}
function mixed() {
  const classes = page.classes.map((_, i) => packed(`--c${i % 8}`)), sheet = packed("--sheet");
  return { classes, faded: classes.map((c) => faded(c, sheet)), free: packed("--free"), sheet, bad: packed("--bad"), found: packed("--accent") };
}

// One piece of memory for all pictures of a size.
let memory = new Uint32Array(0);
function pixelsOf(width, height) {
  if (memory.length !== width * height) memory = new Uint32Array(width * height);
  return memory;
}

function block(pixels, width, x0, x1, y0, y1, ink) {
  if (x1 - x0 < 4) {
    for (let y = y0; y < y1; y += 1) for (let x = x0, at = y * width + x0; x < x1; x += 1, at += 1) pixels[at] = ink;
  } else for (let y = y0; y < y1; y += 1) pixels.fill(ink, y * width + x0, y * width + x1);
}

// From `look` to pixels. A bar that is wide enough ends with a gap, and with a red mark if it had to make way.
function paint(run, jobs, width, height, ink) {
  const pixels = pixelsOf(width, height).fill(ink.sheet), step = page.gantt.step, high = page.gantt.height;
  const from = look.from / step, to = look.to / step, scale = width / (to - from), row = height / (look.bottom - look.top), gap = row > 24 ? 5 : row > 7 ? 2 : row > 3 ? 1 : 0;
  const first = Math.max(0, Math.floor(look.top)), last = Math.min(MAX_NODES, Math.ceil(look.bottom));
  for (let node = first; node < last; node += 1) {
    const base = (node - look.top) * row, tall = Math.max(1, row - gap);
    block(pixels, width, 0, width, Math.max(0, Math.round(base)), Math.min(height, Math.round(base + tall)), ink.free);
    for (let bar = run.offset[node], end = run.offset[node + 1]; bar < end; bar += 1) {
      const stretch = run.stretch[bar], begin = run.begin[stretch];
      if (begin > to) break;
      const over = begin + run.length[stretch];
      if (over < from) continue;
      const job = run.job[stretch], x0 = Math.max(0, Math.floor((begin - from) * scale)), x1 = Math.min(width, Math.max(x0 + 1, Math.floor((over - from) * scale)));
      const y0 = Math.max(0, Math.round(base + (tall * run.low[bar]) / high)), y1 = Math.min(height, Math.max(y0 + 1, Math.round(base + (tall * run.high[bar]) / high)));
      const klass = jobs.klass[job], wide = x1 - x0, edge = y1 - y0 > 5 ? 1 : 0;
      const fill = look.job < 0 ? ink.classes[klass] : job === look.job ? ink.found : ink.faded[klass];
      block(pixels, width, x0, wide > 3 ? x1 - 1 : x1, y0, y1 - edge, fill);
      if (wide > 5 && run.why[stretch] >= 1 && run.why[stretch] <= 4) block(pixels, width, x1 - 3, x1 - 1, y0, y1 - edge, ink.bad);
    }
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
}

// The bar at a place, or -1.
function barAt(run, time, place) {
  const node = Math.floor(place), high = (place - node) * page.gantt.height, at = time / page.gantt.step;
  if (node < 0 || node >= MAX_NODES) return -1;
  for (let bar = run.offset[node], end = run.offset[node + 1]; bar < end; bar += 1) {
    const stretch = run.stretch[bar];
    if (run.begin[stretch] > at) break;
    if (run.begin[stretch] + run.length[stretch] >= at && run.low[bar] <= high && run.high[bar] > high) return bar;
  }
  return -1;
}
