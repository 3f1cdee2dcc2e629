// Reading by keyboard: j and k from comment to comment, r to answer. They rest while one writes,
// and may be turned off.

import { show } from "./account.js";
import { button, el, focusOn } from "./dom.js";
import { read, write } from "./kept.js";

const HELP = [
  ["j", "Next comment"],
  ["k", "Comment before"],
  ["r", "Answer the comment that has the focus"],
  ["n", "Show new comments"],
  ["?", "This list"],
];

const isOn = () => read("keys") !== false;

function comments() {
  return [...document.querySelectorAll("article.comment")].filter((node) => node.offsetParent !== null);
}

/** The comment next to the one in focus; without one, the first on the screen. */
function step(by) {
  const all = comments();
  const at = all.indexOf(document.activeElement?.closest?.("article.comment"));
  const seen = all.findIndex((node) => node.getBoundingClientRect().bottom > 80);
  const next = at >= 0 ? at + by : seen;
  const node = all[Math.min(Math.max(next, 0), all.length - 1)];
  for (const other of document.querySelectorAll(".comment.target")) other.classList.remove("target");
  focusOn(node, "center");
}

function isWriting(target) {
  return target.closest?.("input, textarea, select, [contenteditable], dialog") !== null;
}

const ACTS = {
  j: () => step(1),
  k: () => step(-1),
  r: () => document.activeElement?.closest?.("article.comment")?.querySelector("[data-act=reply]")?.click(),
  n: () => document.querySelector(".arrived")?.click(),
  "?": () => help(),
};

export function help() {
  const box = el("input", { type: "checkbox", checked: isOn(), on: { change: (event) => write("keys", event.target.checked) } });
  const dialog = el("dialog", { "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keyboard shortcuts"),
    el("dl", { class: "keys" }, HELP.map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)))),
    el("label", { class: "check" }, box, "Shortcuts are on"),
    el("div", { class: "form-row" }, button("Close", () => dialog.close(), { class: "primary" })));
  show(dialog);
}

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const run = ACTS[event.key];
    if (!run || isWriting(event.target) || (!isOn() && event.key !== "?")) return;
    event.preventDefault();
    run();
  });
}
