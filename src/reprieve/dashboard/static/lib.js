// Requests and formats. No state, no markup.

export async function getJSON(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("the controller does not answer");
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(body.message || `${response.status} ${response.statusText}`), { status: response.status });
  return body;
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

// Internal amounts are milli-cores for cpu and whole units for everything else; null is without limit.
export function amount(resource, n) {
  if (n === null) return "unlimited";
  if (resource === "cpu") return n % 1000 === 0 ? `${n / 1000}` : `${n}m`;
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) {
    let i = 0;
    while (n >= 1024 && i < BINARY.length - 1) { n /= 1024; i += 1; }
    return `${Number.isInteger(n) ? n : n.toFixed(1)}${BINARY[i]}`;
  }
  return `${Number.isInteger(n) ? n : n.toFixed(1)}`;
}

export const amounts = (resources) => Object.entries(resources).filter(([, n]) => n)
  .map(([r, n]) => `${amount(r, n)} ${r}`).join(", ");

// For small places: nvidia.com/gpu is gpu, gpu.nvidia.com too; the whole name is in the tooltip.
export const shortName = (resource) => resource.split("/").pop().split(".")[0];

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  if (s < 172800) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

export const age = (iso, now = Date.now()) => (iso ? span((now - Date.parse(iso)) / 1000) : "–");
const two = (n) => `${n}`.padStart(2, "0");
const day = (d) => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
// With the date as soon as it is not today's.
export function clock(iso, now = Date.now()) {
  if (!iso) return "–";
  const d = new Date(iso), time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return day(d) === day(new Date(now)) ? time : `${day(d)} ${time}`;
}
export function exact(iso) {
  const d = new Date(iso), ahead = -d.getTimezoneOffset(), zone = `${ahead < 0 ? "-" : "+"}${two(Math.floor(Math.abs(ahead) / 60))}:${two(Math.abs(ahead) % 60)}`;
  return `${day(d)} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())} ${zone === "+00:00" ? "UTC" : `UTC${zone}`}`;
}
// 12,345. One format for all numbers: to make one takes longer than everything else about a row.
const ENGLISH = new Intl.NumberFormat("en");
export const thousands = (n) => ENGLISH.format(n);
export const hours = (h) => (h > 0 && h < 0.05 ? "under 0.1" : h >= 100 ? thousands(Math.round(h)) : h >= 10 ? h.toFixed(0) : `${Number(h.toFixed(1))}`);

// KIND/NAMESPACE/NAME: the middle; what has no namespace belongs to nobody in particular.
export const namespaceOf = (unit) => { const parts = unit.split("/"); return parts.length > 2 ? parts[1] : ""; };
export const keyNamespace = (key) => key.split("/")[0];
export const mine = ({ ns, team }, namespace, whose) => (!ns || namespace === ns) && (!team || whose === team);
export const millis = (ms) => `${ms < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`;
export const percent = (x) => `${Math.round(100 * x)}\u00a0%`;
export const plural = (n, word) => `${thousands(n)} ${word}${n === 1 ? "" : "s"}`;

// Eight steps from the least to the most important; few priorities stay on the calm side of the scale.
export function bandClass(index, count) {
  const top = Math.min(7, 2 * count);
  return `band-${count <= 1 ? 3 : Math.round((top * Math.max(0, index)) / (count - 1))}`;
}

// The same group has the same colour everywhere; two groups may share one, so names are always there too.
export function groupClass(group) {
  if (!group) return "lone";
  let sum = 7;
  for (const c of group) sum = (sum * 31 + c.codePointAt(0)) % 9973;
  return `group-${sum % 8}`;
}
