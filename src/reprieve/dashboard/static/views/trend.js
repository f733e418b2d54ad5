// A few hours of one queue as a line, with the same said in words.
import { html } from "../vendor/htm-preact.js";
import { percent } from "../lib.js";

const WIDTH = 150, HEIGHT = 26;

function path(times, values, most) {
  const begin = times[0], whole = Math.max(1, times[times.length - 1] - begin);
  return values.map((v, i) => (v === null ? null : `${((WIDTH * (times[i] - begin)) / whole).toFixed(1)},${(HEIGHT - 2 - ((HEIGHT - 4) * v) / most).toFixed(1)}`)).filter(Boolean).join(" ");
}

const known = (values) => values.filter((v) => v !== null);

export function Trend({ trends, name }) {
  const queue = trends && trends.queues[name];
  if (!queue) return null;
  const used = known(queue.used), waiting = known(queue.waiting);
  if (used.length < 2) return null;
  const minutes = Math.round((trends.time[trends.time.length - 1] - trends.time[0]) / 60);
  const most = Math.max(...waiting);
  const said = `In the last ${minutes >= 120 ? `${Math.round(minutes / 60)} hours` : minutes > 1 ? `${minutes} minutes` : "minute"}: ${percent(Math.min(...used))} to ${percent(Math.max(...used))} used, at most ${most} waiting`;
  return html`<div class="trend"><svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT} role="img" aria-label=${said}>
    <polyline class="trend-used" points=${path(trends.time, queue.used, Math.max(1, ...used))}></polyline>
    ${most > 0 && html`<polyline class="trend-waiting" points=${path(trends.time, queue.waiting, most)}></polyline>`}</svg>
    <span class="note">${said}</span></div>`;
}
