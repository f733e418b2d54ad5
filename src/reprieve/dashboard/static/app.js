// The shell: live state, navigation, theme, and what is wrong. Each view is a pure function of the state.
import { html, render, useState, useEffect, useRef } from "./vendor/htm-preact.js";
import { age, clock, plural } from "./lib.js";
import { useLiveState, useRoute, useSeconds } from "./live.js";
import { Problem } from "./parts.js";
import { MapView } from "./views/map.js";
import { QueueView } from "./views/queue.js";
import { GroupsView } from "./views/groups.js";
import { FlowView } from "./views/flow.js";
import { UnitView } from "./views/unit.js";
import { PreemptionsView } from "./views/preemptions.js";
import { QuotaView } from "./views/quota.js";
import { FleetView } from "./views/fleet.js";
import { WhatIfView } from "./views/whatif.js";

const VIEWS = [
  ["map", "Cluster", MapView],
  ["queue", "Queue", QueueView],
  ["groups", "Pod groups", GroupsView],
  ["flow", "Who made way", FlowView],
  ["preemptions", "Preemptions", PreemptionsView],
  ["quota", "Quota", QuotaView],
  ["fleet", "Fleet", FleetView],
  ["whatif", "What if", WhatIfView],
];

// Not in the navigation: every name of a unit leads there.
const UNIT = ["unit", "Unit", UnitView];

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
  return html`<dl class="facts">${facts.map(([name, n]) => html`<div><dt>${name}</dt><dd>${n.toLocaleString("en")}</dd></div>`)}</dl>`;
}

// An old state that looks like a live one misleads; so the page says what it has lost and since when.
function Trouble({ state, contact }) {
  if (!contact.ok && contact.error) {
    const hint = state ? `Shown is the state of ${clock(state.time)}. The page tries again by itself.` : "Is it still running? The page tries again by itself.";
    return html`<${Problem} error=${`No news: ${contact.error}.`} hint=${hint} />`;
  }
  if (!state) return null;
  const { problem, since, unseen } = state.contact;
  return html`
    ${problem && html`<${Problem} error=${`The API server has not answered since ${clock(since)}: ${problem}`}
      hint="This is the last known state. The controller keeps trying." />`}
    ${unseen.length > 0 && html`<${Problem} error=${`${plural(unseen.length, "kind")} cannot be shown: ${unseen.join("; ")}`}
      hint="The controller needs the right to list and watch every kind that the page shows." />`}`;
}

function Foot({ state }) {
  const now = useSeconds();
  return html`<footer>last change ${age(state.time, now)} ago · revision ${state.revision}
    ${state.login && html`<form method="post" action="logout"><button>Log out</button></form>`}</footer>`;
}

function App() {
  const { view, params } = useRoute();
  const [state, contact] = useLiveState();
  const main = useRef(), first = useRef(true);
  const current = view === "unit" ? UNIT : VIEWS.find(([id]) => id === view) || VIEWS[0];
  const View = current[2];
  useEffect(() => {
    document.title = `${current[1]} · Reprieve`;
    if (!first.current) { main.current.focus({ preventScroll: true }); scrollTo(0, 0); }
    first.current = false;
  }, [current]);
  const skip = (event) => { event.preventDefault(); main.current.focus(); };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header>
      <a class="brand" href="#/map"><img src="static/icon.svg" alt="" width="22" height="22" />Reprieve</a>
      <nav aria-label="Views">${VIEWS.map(([id, title]) => html`
        <a href=${`#/${id}`} aria-current=${id === current[0] ? "page" : null}>${title}</a>`)}</nav>
      <span class=${`link-state ${contact.ok ? "ok" : "off"}`} role="status">${contact.ok ? "live" : "reconnecting…"}</span>
      <${ThemeButton} />
    </header>
    <main id="main" tabindex="-1" ref=${main} aria-label=${current[1]}>
      <h1 class="quiet">${current[1]}</h1>
      <${Trouble} state=${state} contact=${contact} />
      ${state && html`<${Facts} summary=${state.summary} />`}
      ${!state && !contact.error && html`<p class="boot">Loading the cluster…</p>`}
      ${state && html`<${View} state=${state} params=${params} />`}
    </main>
    ${state && html`<${Foot} state=${state} />`}`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
