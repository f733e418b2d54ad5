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
  return `${n}`;
}

export const amounts = (resources) => Object.entries(resources).filter(([, n]) => n)
  .map(([r, n]) => `${amount(r, n)} ${r}`).join(", ");

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  if (s < 172800) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

export const age = (iso, now = Date.now()) => (iso ? span((now - Date.parse(iso)) / 1000) : "–");
export const clock = (iso) => (iso ? new Date(iso).toLocaleTimeString([], { hour12: false }) : "–");
export const millis = (ms) => `${ms < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`;
export const percent = (x) => `${Math.round(100 * x)} %`;
export const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

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
