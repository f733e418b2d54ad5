// A shared address names its view after #, which a form leaves behind: it is taken along, and the redirect keeps it.
// It listens before there is a form: a password manager may be quicker than a script that comes after it.
addEventListener("submit", (event) => { event.target.action = `login${location.hash}`; });
