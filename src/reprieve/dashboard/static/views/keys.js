// What keys do. Single letters can be switched off: they get in the way of those who steer by voice.
import { html, useLayoutEffect, useState } from "../vendor/htm-preact.js";
import { Dialog } from "../parts.js";

const OFF = "keys-off";
// A key is text where letters go in. Not in what is gone from the screen: a dialog that was just closed still has the focus.
const typing = (element) => element && element.getClientRects().length > 0
  && (element.isContentEditable || element.matches("input:not([type=checkbox]), textarea, select"));

export function useKeys(actions) {
  useLayoutEffect(() => { // the first key may come before the first picture
    const on = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(document.activeElement) || localStorage.getItem(OFF)) return;
      if (document.querySelector("dialog[open]")) return;
      const action = actions(event.key);
      if (action) { event.preventDefault(); action(); }
    };
    addEventListener("keydown", on);
    return () => removeEventListener("keydown", on);
  });
}

export function Keys({ views, onClose }) {
  const [off, setOff] = useState(Boolean(localStorage.getItem(OFF)));
  const toggle = () => { if (off) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "yes"); setOff(!off); };
  const rows = [["/", "search everything; arrows choose, Enter opens"], ["?", "this list"], ["Escape", "close what is open"],
    ...views.map(([, title], i) => [`${i + 1}`, title]), ["Tab", "the next thing; Enter opens it"]];
  return html`<${Dialog} kind="keys" label="Keys" onClose=${onClose}>
    <h2>Keys</h2><dl>${rows.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <label><input type="checkbox" checked=${!off} onChange=${toggle} /> Single keys do this</label>
    <p><button onClick=${onClose}>Close</button></p><//>`;
}
