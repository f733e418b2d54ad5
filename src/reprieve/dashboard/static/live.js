// What changes by itself: the state of the cluster, the time, the address. No markup here.
import { useState, useEffect, useLayoutEffect, useRef } from "./vendor/htm-preact.js";
import { getJSON, keyNamespace } from "./lib.js";

const AGAIN_AFTER = 2000;
// Whose things are shown: this stays when another view is opened.
const STAYS = ["ns", "team"];

// The address after # is a view's name and then pairs: #/map/pool/zone-a/node/h100-3
function parsed(hash) {
  const [view, ...rest] = hash.replace(/^#\/?/, "").split("/");
  const params = {};
  for (let i = 0; i + 1 < rest.length; i += 2) {
    try { params[rest[i]] = decodeURIComponent(rest[i + 1]); } catch { /* a broken address names nothing */ }
  }
  return { view, params };
}

// Every link asks for it, of which there are hundreds: it is read once.
let read = { hash: null, route: null };

function readRoute() {
  if (read.hash !== location.hash) read = { hash: location.hash, route: parsed(location.hash) };
  return read.route;
}

export function link(view, params = {}) {
  const now = readRoute().params;
  const all = { ...Object.fromEntries(STAYS.map((key) => [key, now[key]])), ...params };
  const pairs = Object.entries(all).filter(([, value]) => value);
  return `#/${[view, ...pairs.flatMap(([key, value]) => [key, encodeURIComponent(value)])].join("/")}`;
}

export const go = (view, params) => { location.hash = link(view, params); };

// What an address shows that names no view. A manager has no nodes of its own: its first view is its fleet.
export const firstView = () => (latest && latest.fleet.clusters.length && !latest.summary.nodes ? "fleet" : "map");

// A filter is part of the address, so that it can be shared; but not a step on the way back.
export function refine(changes) {
  const { view, params } = readRoute();
  history.replaceState(null, "", link(view || firstView(), { ...params, ...changes }));
  dispatchEvent(new Event("hashchange"));
}

export function useRoute() {
  const [route, setRoute] = useState(readRoute());
  useLayoutEffect(() => { // a link may be followed before the first picture
    const on = () => setRoute(readRoute());
    addEventListener("hashchange", on);
    return () => removeEventListener("hashchange", on);
  }, []);
  return route;
}

// What there is by name, so that sentences can lead to what they name. Kept once for each state: there are thousands.
let latest = null, names = null;

const NOBODY = { nodes: new Set(), queues: new Set(), namespaces: new Set() };

const sameNames = (one, other) => one.size === other.size && [...one].every((name) => other.has(name));

// The same object as long as the names are the same: whatever was drawn with it is still right.
export function known() {
  if (!latest) return NOBODY;
  if (!names || names.of !== latest) {
    const owners = [...latest.groups, ...latest.trees].map((g) => keyNamespace(g.group)); // a group is still there when its pods are gone
    const now = { nodes: latest.nodeNames, queues: new Set(latest.quota.queues.map((q) => q.name)), namespaces: new Set([...latest.namespaces, ...owners]) };
    const same = names && now.nodes === names.found.nodes && sameNames(now.queues, names.found.queues) && sameNames(now.namespaces, names.found.namespaces);
    names = { of: latest, found: same ? names.found : now };
  }
  return names.found;
}

// Of a list that came anew, what did not change stays the same object.
function sameKept(old, list) {
  const before = new Map(old.map((each) => [each.name, each]));
  return list.map((each) => { const known = before.get(each.name); return known && JSON.stringify(known) === JSON.stringify(each) ? known : each; });
}

// A state, from the last one and what is new since. What did not change stays the same object: nobody has to look at it again.
function renewed(old, { changedNodes, ...news }) {
  if (old && news.quota) news.quota = { ...news.quota, queues: sameKept(old.quota.queues, news.quota.queues) };
  if (news.nodes) return { ...(news.since ? old : null), ...news, nodeNames: new Set(news.nodes.map((n) => n.name)) };
  const changed = new Map(changedNodes.map((n) => [n.name, n]));
  return { ...old, ...news, nodes: changed.size ? old.nodes.map((n) => changed.get(n.name) || n) : old.nodes };
}

export function useSeconds(every = 1) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000 * every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

// What is asked again when `revision` changes; the old answer stays until the new one is there. One question at a time: a slow answer
// is waited for, and the next question comes no sooner than it took, so that whoever answers has half of the time for others.
// `stays`: a list that is narrowed down shows the old one meanwhile; what is about something else never does.
export function useAnswer(path, revision, stays = false) {
  const [answer, setAnswer] = useState({ path: null, data: null, error: null });
  const asked = useRef(null);
  useEffect(() => {
    if (asked.current && asked.current.path === path) { asked.current.again = true; return; }
    if (asked.current) clearTimeout(asked.current.timer);
    const question = asked.current = path ? { path, again: false, timer: null } : null;
    const ask = () => {
      const begun = performance.now();
      const told = (data, error) => {
        if (asked.current !== question) return;
        setAnswer({ path, data, error });
        if (question.again) { question.again = false; question.timer = setTimeout(ask, performance.now() - begun); }
        else asked.current = null;
      };
      getJSON(path).then((data) => told(data, null), (e) => told(null, e.message));
    };
    if (question) ask();
  }, [path, revision]);
  useEffect(() => () => { if (asked.current) clearTimeout(asked.current.timer); asked.current = null; }, []);
  return answer.path === path || (stays && answer.path) ? answer : { data: null, error: null };
}

// The stream only says that something changed; what is new is fetched, one request at a time, and not for a hidden page.
export function useLiveState() {
  const [state, setState] = useState(null);
  const [contact, setContact] = useState({ ok: false, error: null });
  // Before the first paint: the state is on its way already (index.html), and nothing is worth seeing without it.
  useLayoutEffect(() => {
    let busy = false, again = false, closed = false, stream = null, timer = null, wanted = "", shown = "";
    const refresh = async () => {
      if (closed) return;
      if (busy || document.hidden) { again = true; return; }
      busy = true; again = false;
      try {
        const news = await getJSON(latest ? `api/state?since=${latest.version}` : "api/state");
        shown = news.version;
        if (!closed) { latest = renewed(latest, news); setState(latest); setContact({ ok: true, error: null }); }
      } catch (e) {
        if (e.status === 401) { location.reload(); return; }
        if (!closed) { setContact({ ok: false, error: e.message }); later(); }
      }
      busy = false;
      if (again && wanted !== shown) refresh();
    };
    const changed = (event) => { wanted = event.data; if (wanted !== shown) refresh(); };
    // A browser reopens a stream that was cut, but not one that was refused: that is ours to do.
    const listen = () => {
      stream = new EventSource("api/stream");
      stream.addEventListener("changed", changed);
      stream.onerror = () => {
        setContact((c) => ({ ok: false, error: c.error || "the controller does not answer" }));
        stream.close();
        later();
      };
    };
    // The next change may be hours away, so what did not arrive is asked for again.
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (stream.readyState === EventSource.CLOSED) listen(); refresh(); }, AGAIN_AFTER);
    };
    const seen = () => { if (!document.hidden && again) refresh(); };
    // Back on a page that the browser kept: whoever logged out meanwhile must not see it, the others see what is new at once.
    const back = (event) => { if (event.persisted && latest && latest.login) location.reload(); else if (event.persisted) refresh(); };
    document.addEventListener("visibilitychange", seen);
    addEventListener("pageshow", back);
    listen();
    refresh();
    return () => { closed = true; clearTimeout(timer); stream.close(); document.removeEventListener("visibilitychange", seen); removeEventListener("pageshow", back); };
  }, []);
  return [state, contact];
}
