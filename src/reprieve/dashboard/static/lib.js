// What every view uses: rendering, requests, formats, colours. No state.
import { html, render, useState, useEffect, useLayoutEffect, useMemo, useRef } from "./vendor/htm-preact.js";
export { html, render, useState, useEffect, useLayoutEffect, useMemo, useRef };

export async function getJSON(path, options) {
  const response = await fetch(path, options);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.message || `${response.status} ${response.statusText}`);
  return body;
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

// Internal amounts are milli-cores for cpu and whole units for everything else.
export function amount(resource, n) {
  if (resource === "cpu") return n % 1000 === 0 ? `${n / 1000}` : `${n}m`;
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) {
    let i = 0;
    while (n >= 1024 && i < BINARY.length - 1) { n /= 1024; i += 1; }
    return `${Number.isInteger(n) ? n : n.toFixed(1)}${BINARY[i]}`;
  }
  return `${n}`;
}

export function age(iso, now = Date.now()) {
  if (!iso) return "–";
  let s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  if (s < 172800) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

export const clock = (iso) => (iso ? new Date(iso).toLocaleTimeString([], { hour12: false }) : "–");
export const percent = (x) => `${Math.round(100 * x)} %`;
export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Eight steps from the least to the most important; with fewer priorities they spread over the scale.
export const bandStep = (index, count) => (count <= 1 ? 3 : Math.round((7 * index) / (count - 1)));
export const bandClass = (index, count) => `band-${bandStep(index, count)}`;

export function Stack({ shares, bands, label }) {
  return html`<span class="stack" role="img" aria-label=${label}>
    ${shares.map((share, i) => share > 0 && html`<span class=${bandClass(i, bands.length)}
      style=${{ width: `${Math.min(100, 100 * share)}%` }} title=${`priority ${bands[i]}: ${percent(share)}`}></span>`)}
  </span>`;
}

export function Legend({ bands }) {
  if (!bands.length) return null;
  return html`<ul class="legend" aria-label="Priorities">
    ${bands.map((p, i) => html`<li><span class=${`swatch ${bandClass(i, bands.length)}`}></span>${p}</li>`)}
    <li><span class="swatch free"></span>free</li>
  </ul>`;
}

export function Empty({ children }) {
  return html`<p class="empty">${children}</p>`;
}

export function Problem({ error, hint }) {
  return html`<div class="problem" role="alert"><strong>${error}</strong>${hint && html`<p>${hint}</p>`}</div>`;
}

export function Table({ caption, columns, rows, onPick, picked }) {
  return html`<div class="scroll"><table>
    <caption class="quiet">${caption}</caption>
    <thead><tr>${columns.map((c) => html`<th scope="col" class=${c.number ? "number" : ""}>${c.title}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.key} class=${row.key === picked ? "picked" : ""}>
      ${columns.map((c, i) => html`<td class=${c.number ? "number" : c.wide ? "wide" : ""}>${
        onPick && i === 0
          ? html`<button class="link" onClick=${() => onPick(row)} aria-expanded=${row.key === picked}>${c.cell(row)}</button>`
          : c.cell(row)}</td>`)}
    </tr>`)}</tbody></table></div>`;
}

// One of the other ways to make room that a plan or a decision carries.
export function Alternatives({ title, list }) {
  if (!list || !list.length) return null;
  return html`<h3>${title}</h3><ul class="reasons">${list.map((a) => html`<li>${a.title}: ${
    a.victims.length ? `${a.victims.join(", ")} would make way` : "nobody would have to go"}</li>`)}</ul>`;
}
