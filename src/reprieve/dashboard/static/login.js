// A shared address names its view after #, which a form leaves behind: it is taken along, and the redirect keeps it.
const form = document.querySelector("form");
form.action = `${form.getAttribute("action")}${location.hash}`;
