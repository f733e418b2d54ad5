// Nodes over time: one picture for each configuration, all of the same span and the same nodes.
const GUTTER = 92, FOOT = 22;

class Gantt {
  constructor(place, run, jobs) {
    Object.assign(this, { place, run, jobs, press: null });
    this.figure = document.createElement("figure");
    this.figure.className = "gantt";
    const caption = document.createElement("figcaption");
    caption.textContent = page.policies[place];
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `Nodes over time under ${page.policies[place]}. Find a job by its name above to have it read out.`);
    this.canvas.setAttribute("aria-describedby", "keys");
    this.pick = Object.assign(document.createElement("div"), { className: "pick", hidden: true });
    this.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    this.figure.append(caption, this.canvas, this.pick, this.tip);
    by("gantts").append(this.figure);
    this.height = Math.min(page.policies.length > 1 ? 300 : 480, Math.max(120, MAX_NODES * 52)) + FOOT;
    this.listen();
    look.followers.push(() => this.draw());
    new ResizeObserver(redraw).observe(this.canvas);
  }

  draw() {
    const ratio = Math.min(2, devicePixelRatio || 1), wide = this.canvas.clientWidth;
    if (!wide) return;
    const width = Math.round(wide * ratio), height = Math.round(this.height * ratio), left = Math.round(GUTTER * ratio), foot = Math.round(FOOT * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) { this.canvas.width = width; this.canvas.height = height; this.canvas.style.height = `${this.height}px`; }
    const pen = this.canvas.getContext("2d", { alpha: false });
    pen.fillStyle = css("--sheet");
    pen.fillRect(0, 0, width, height);
    pen.putImageData(paint(this.run, this.jobs, width - left, height - foot, inks()), left, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.labels(pen, wide);
    pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  labels(pen, wide) {
    const tall = this.height - FOOT, row = tall / (look.bottom - look.top), every = Math.max(1, Math.ceil(15 / row)), step = stepFor(look.to - look.from, Math.max(2, (wide - GUTTER) / 90));
    Object.assign(pen, { fillStyle: css("--ink-2"), strokeStyle: css("--line"), font: "12px system-ui, sans-serif", textAlign: "right", textBaseline: "middle" });
    for (let node = Math.ceil(Math.max(0, look.top - 0.5) / every) * every; node < Math.min(MAX_NODES, look.bottom); node += every) {
      const y = (node + 0.5 - look.top) * row, name = page.gantt.nodes[node];
      if (y > 5 && y < tall - 4) pen.fillText(name.length > 13 ? `…${name.slice(-12)}` : name, GUTTER - 8, y);
    }
    pen.textAlign = "center";
    for (let at = Math.ceil(look.from / step) * step; at <= look.to; at += step) {
      const x = GUTTER + ((at - look.from) / (look.to - look.from)) * (wide - GUTTER);
      pen.fillRect(x, tall, 1, 4);
      if (x < wide - 18) pen.fillText(mark(at, step), x, tall + 14);
    }
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const time = look.from + (Math.max(0, x - GUTTER) / (box.width - GUTTER)) * (look.to - look.from);
    return { x, y, time, place: look.top + (Math.max(0, y) / (this.height - FOOT)) * (look.bottom - look.top) };
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / 600);
      else if (event.shiftKey) tall(Math.exp(event.deltaY / 400), this.at(event).place);
      else zoom(Math.exp(event.deltaY / 400), this.at(event).time);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      this.press = { ...this.at(event), shift: event.shiftKey };
    });
    canvas.addEventListener("pointermove", (event) => (this.press ? this.drag(event) : this.hover(event)));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => { this.press = null; this.pick.hidden = true; });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", LOOKS.all);
    canvas.addEventListener("keydown", (event) => {
      const act = KEYS[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  drag(event) {
    const now = this.at(event), then = this.press;
    this.tip.hidden = true;
    if (then.shift) {
      lookAt(look.from + then.time - now.time, look.to + then.time - now.time, look.top + then.place - now.place, look.bottom + then.place - now.place);
      return;
    }
    const style = this.pick.style, top = this.canvas.offsetTop;
    this.pick.hidden = Math.abs(now.x - then.x) < 4;
    Object.assign(style, { left: `${Math.max(GUTTER, Math.min(now.x, then.x))}px`, top: `${top + Math.max(0, Math.min(now.y, then.y))}px`, width: `${Math.abs(now.x - then.x)}px`, height: `${Math.abs(now.y - then.y)}px` });
  }

  release(event) {
    const then = this.press, now = this.at(event);
    this.press = null;
    this.pick.hidden = true;
    if (!then || then.shift) return;
    if (Math.abs(now.x - then.x) >= 4) {
      const high = Math.abs(now.y - then.y) > 12, [top, bottom] = [Math.min(now.place, then.place), Math.max(now.place, then.place)];
      lookAt(Math.min(now.time, then.time), Math.max(now.time, then.time), ...(high ? [Math.floor(top), Math.ceil(bottom)] : []));
    } else if (now.x >= GUTTER) {
      const bar = barAt(this.run, now.time, now.place);
      choose(bar < 0 ? -1 : this.run.job[this.run.stretch[bar]]);
    }
  }

  hover(event) {
    const now = this.at(event), bar = now.x < GUTTER ? -1 : barAt(this.run, now.time, now.place);
    this.tip.hidden = bar < 0;
    if (bar < 0) return;
    const stretch = this.run.stretch[bar], job = this.run.job[stretch];
    this.tip.replaceChildren(...[this.jobs.names[job], about(this.jobs, job), `on ${page.gantt.nodes[Math.floor(now.place)]}, ${told(this.run, this.jobs, stretch)}`].map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    const right = now.x > this.canvas.clientWidth / 2;
    Object.assign(this.tip.style, { left: right ? "" : `${now.x + 14}px`, right: right ? `${this.canvas.clientWidth - now.x + 14}px` : "", top: `${this.canvas.offsetTop + Math.min(now.y + 12, this.height - 80)}px` });
  }
}

const KEYS = { "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15), ArrowUp: () => move(0, -0.2), ArrowDown: () => move(0, 0.2), 0: LOOKS.all, Home: LOOKS.all };
const ENDINGS = { ended: "then it ended", preempted: "then it made way", quota: "then it lost its quota", node: "then its node failed", drained: "then its node was drained", cut: "still running at the end" };

function about(jobs, job) {
  const size = `${amount(jobs.size[job])} ${page.unit}${jobs.size[job] === 1 ? "" : "s"}`, pods = jobs.pods[job];
  const queue = jobs.queues[jobs.queue[job]];
  return `class ${page.classes[jobs.klass[job]]}, ${pods === 1 ? size : `${pods} pods of ${size}`}${queue ? `, queue ${queue}` : ""}`;
}
function told(run, jobs, stretch) {
  const step = page.gantt.step, begin = run.begin[stretch] * step, length = run.length[stretch] * step, other = run.by[stretch];
  return `${moment(begin)} to ${moment(begin + length)} (${span(length)}), ${ENDINGS[page.gantt.why[run.why[stretch]]]}${other ? ` for ${jobs.names[other - 1]}` : ""}`;
}
