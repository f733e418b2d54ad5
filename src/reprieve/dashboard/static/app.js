// The shell: live state, navigation, theme, and what is wrong. Each view is a pure function of the state.
import { html, render, useState, useEffect, useLayoutEffect, useRef } from "./vendor/htm-preact.js";
import { clock, plural } from "./lib.js";
import { firstView, go, link, useLiveState, useRoute, useSeconds } from "./live.js";
import { Problem, When } from "./parts.js";
import { Headline, Whose } from "./views/headline.js";
import { Search } from "./views/search.js";
import { Keys, useKeys } from "./views/keys.js";
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
  return html`<footer>last change <${When} iso=${state.time} now=${now} ago /> ago · revision ${state.revision}
    ${state.login && html`<form method="post" action="logout"><button>Log out</button></form>`}</footer>`;
}

// What can be shown for one owner only; the others are about everybody.
const OWNED = ["map", "queue", "groups", "flow", "preemptions", "fleet"];

function Header({ current, contact, onSearch, onKeys }) {
  return html`<header>
    <a class="brand" href=${link("map")}><img src="static/icon.svg" alt="" width="22" height="22" />Reprieve</a>
    <nav aria-label="Views">${VIEWS.map(([id, title]) => html`
      <a href=${link(id)} aria-current=${id === current ? "page" : null}>${title}</a>`)}</nav>
    <button class="find" onClick=${onSearch} aria-keyshortcuts="/">Search <kbd aria-hidden="true">/</kbd></button>
    <button class="theme" onClick=${onKeys} title="Keys" aria-keyshortcuts="?"><span aria-hidden="true">?</span><span class="quiet">Keys</span></button>
    <${ThemeButton} />
    <span class=${`link-state ${contact.ok ? "ok" : contact.error ? "off" : ""}`} role="status">${contact.ok ? "live" : contact.error ? "reconnecting…" : "connecting…"}</span>
  </header>`;
}

function App() {
  const { view, params } = useRoute();
  const [state, contact] = useLiveState();
  const [open, setOpen] = useState(null);
  const main = useRef(), first = useRef(true);
  const current = view === "unit" ? UNIT : VIEWS.find(([id]) => id === (view || firstView())) || VIEWS[0];
  const [id, title, View] = current;
  const about = params.of || "";
  // A new one each time, so that a late word of the last dialog, that it is closed, does not close the next one.
  const search = () => setOpen({ Box: Search }), keys = () => setOpen({ Box: Keys });
  const close = () => setOpen((now) => (now === open ? null : now));
  useKeys((key) => ({ "/": search, "?": keys })[key]
    || (VIEWS[key - 1] && (() => go(VIEWS[key - 1][0], {}))));
  useEffect(() => { document.title = `${about || title} · Reprieve`; }, [current, about]);
  // Before it is painted, so that nobody who is quick loses the focus; a panel that opened with the view has it already.
  useLayoutEffect(() => {
    if (!first.current && !document.activeElement.closest(".panel")) main.current.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [current, about]);
  const skip = (event) => { event.preventDefault(); main.current.focus(); };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Header} current=${id} contact=${contact} onSearch=${search} onKeys=${keys} />
    <main id="main" tabindex="-1" ref=${main} aria-label=${title}>
      <h1 class="quiet">${title}</h1>
      <${Trouble} state=${state} contact=${contact} />
      ${state && current !== UNIT && html`<div class="top"><${Headline} state=${state} />${OWNED.includes(id) && html`<${Whose} state=${state} params=${params} />`}</div>`}
      ${!state && !contact.error && html`<p class="boot">Loading the cluster…</p>`}
      ${state && html`<${View} state=${state} params=${params} />`}
    </main>
    ${open && html`<${open.Box} key=${open} views=${VIEWS} onClose=${close} />`}
    ${state && html`<${Foot} state=${state} />`}`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
