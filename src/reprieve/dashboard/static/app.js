// The shell: live state, navigation, theme. Each view is a pure function of the state.
import { html, render, useState, useEffect, getJSON, age } from "./lib.js";
import { MapView } from "./views/map.js";
import { QueueView } from "./views/queue.js";
import { GroupsView } from "./views/groups.js";
import { PreemptionsView } from "./views/preemptions.js";
import { QuotaView } from "./views/quota.js";
import { FleetView } from "./views/fleet.js";
import { WhatIfView } from "./views/whatif.js";

const VIEWS = [
  ["map", "Cluster", MapView],
  ["queue", "Queue", QueueView],
  ["groups", "Pod groups", GroupsView],
  ["preemptions", "Preemptions", PreemptionsView],
  ["quota", "Quota", QuotaView],
  ["fleet", "Fleet", FleetView],
  ["whatif", "What if", WhatIfView],
];

function useRoute() {
  const read = () => location.hash.replace(/^#\/?/, "").split("/");
  const [route, setRoute] = useState(read());
  useEffect(() => {
    const on = () => setRoute(read());
    addEventListener("hashchange", on);
    return () => removeEventListener("hashchange", on);
  }, []);
  return route;
}

// The stream only says that something changed; the state itself is fetched, at most once at a time.
function useLiveState() {
  const [state, setState] = useState(null);
  const [link, setLink] = useState({ ok: false, error: null });
  useEffect(() => {
    let busy = false, again = false, closed = false;
    const refresh = async () => {
      if (busy) { again = true; return; }
      busy = true;
      try {
        const next = await getJSON("api/state");
        if (!closed) { setState(next); setLink({ ok: true, error: null }); }
      } catch (e) {
        if (!closed) setLink({ ok: false, error: e.message });
      }
      busy = false;
      if (again) { again = false; refresh(); }
    };
    const stream = new EventSource("api/stream");
    stream.addEventListener("changed", refresh);
    stream.onerror = () => setLink((l) => ({ ...l, ok: false }));
    stream.onopen = () => setLink((l) => ({ ...l, ok: true }));
    refresh();
    return () => { closed = true; stream.close(); };
  }, []);
  return [state, link];
}

function ThemeButton() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") || "auto");
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const next = { auto: "light", light: "dark", dark: "auto" }[theme];
  return html`<button class="theme" onClick=${() => setTheme(next)} title=${`Theme: ${theme}. Switch to ${next}`}>
    <span aria-hidden="true">${{ auto: "◐", light: "☀", dark: "☾" }[theme]}</span><span class="quiet">Theme: ${theme}</span></button>`;
}

function Facts({ summary }) {
  const facts = [
    ["nodes", summary.nodes], ["pods running", summary.running], ["pending", summary.pending],
    ["terminating", summary.terminating], ["preemptions", summary.preemptions],
  ];
  return html`<dl class="facts">${facts.map(([name, n]) => html`<div><dt>${name}</dt><dd>${n}</dd></div>`)}</dl>`;
}

function App() {
  const [name, ...rest] = useRoute();
  const [state, link] = useLiveState();
  const current = VIEWS.find(([id]) => id === name) || VIEWS[0];
  const View = current[2];
  useEffect(() => { document.title = `${current[1]} · Reprieve`; }, [current]);
  return html`
    <header>
      <a class="brand" href="#/map"><img src="static/icon.svg" alt="" width="22" height="22" />Reprieve</a>
      <nav aria-label="Views">${VIEWS.map(([id, title]) => html`
        <a href=${`#/${id}`} aria-current=${id === current[0] ? "page" : null}>${title}</a>`)}</nav>
      <span class=${`link-state ${link.ok ? "ok" : "off"}`} role="status">${link.ok ? "live" : "reconnecting…"}</span>
      <${ThemeButton} />
    </header>
    <main id="main" tabindex="-1">
      ${state && html`<${Facts} summary=${state.summary} />`}
      <h1 class="quiet">${current[1]}</h1>
      ${!state && !link.error && html`<p class="boot">Loading the cluster…</p>`}
      ${!state && link.error && html`<div class="problem" role="alert"><strong>No data: ${link.error}</strong>
        <p>Is the controller still running? The page tries again by itself.</p></div>`}
      ${state && html`<${View} state=${state} path=${rest} />`}
    </main>
    <footer>${state && html`<span>state of ${age(state.time)} ago · revision ${state.revision}</span>`}</footer>`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
