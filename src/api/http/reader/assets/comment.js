// One comment: who, when, the text, what may be done. Drawn anew when it changes; forms that are
// open below it stay, and so does the focus.

import { bdi, button, el, sanitised } from "./dom.js";
import { ago, gone, nameOf, whole } from "./words.js";

const HUES = 8;

function hueOf(text) {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) >>> 0;
  return sum % HUES;
}

function initial(name) {
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(name);
  for (const { segment } of segments) return segment.toLocaleUpperCase();
  return "?";
}

/** The comment's own address. */
export const linkTo = (discussion, id) => `/d/${encodeURIComponent(discussion)}#c=${encodeURIComponent(id)}`;

function avatar(node) {
  const known = node.author;
  const props = { class: `avatar hue-${known ? hueOf(known.id) : "none"}`, "aria-hidden": "true" };
  return el("span", props, known ? initial(nameOf(known)) : "–");
}

const NOBODY = { BLOCKED: "Somebody you block", PUBLISHED: "Somebody" };

const BADGES = {
  PENDING: ["Waits for a moderator", "pending"],
  HIDDEN: ["Hidden", "hidden"],
};

function head(node, discussion, marks) {
  const when = el("time", { datetime: node.createdAt, title: whole(node.createdAt) }, ago(node.createdAt));
  const [text, kind] = BADGES[node.state] ?? [];
  const link = marks.isSending
    ? el("span", { class: "when" }, marks.isSending)
    : el("a", { class: "when", href: linkTo(discussion, node.id), data: { focus: node.id } }, when);
  return el("header", {},
    avatar(node),
    el("h3", { id: "by-" + node.id, class: "who" }, node.author ? bdi(nameOf(node.author)) : NOBODY[node.state] ?? "No longer shown"),
    link,
    node.editedAt && el("span", { class: "mark", title: whole(node.editedAt) }, "edited"),
    marks.isPinned && el("span", { class: "badge pinned" }, "Pinned"),
    marks.isNew && el("span", { class: "badge new" }, "New"),
    text && el("span", { class: "badge " + kind }, text));
}

/** "answers somebody": shown where the place alone does not say it. */
function answers(node, discussion) {
  const { parent } = node;
  if (!parent) return null;
  const text = parent.body?.text ?? gone(parent.state);
  const short = text.replace(/\s+/gu, " ").slice(0, 140);
  return el("a", { class: "answers", href: linkTo(discussion, parent.id), data: { focus: parent.id } },
    el("span", { class: "arrow", "aria-hidden": "true" }, "↳"),
    el("span", { class: "unseen" }, "Answers "),
    el("span", {}, bdi(nameOf(parent.author)), ":"),
    el("span", { dir: "auto", class: "snippet" }, short));
}

function body(node) {
  if (node.body?.html !== undefined && node.body?.html !== null) {
    return sanitised(el("div", { class: "body", dir: "auto" }), node.body.html);
  }
  if (node.body) return el("div", { class: "body typed", dir: "auto" }, node.body.text);
  return el("p", { class: "body gone" }, gone(node.state));
}

/** Builds the comment's element. `acts(node)` gives its buttons. */
export function drawComment(node, { discussion, acts, answersWhom, marks = {} }) {
  const article = el("article", {
    class: "comment", tabindex: "-1", id: "c-" + node.id, "aria-labelledby": "by-" + node.id,
    data: { id: node.id },
  });
  redraw(article, node, { discussion, acts, answersWhom, marks });
  article.append(el("div", { class: "slot" }));
  return article;
}

/** Draws it anew into its element. */
export function redraw(article, node, { discussion, acts, answersWhom, marks = {} }) {
  const held = article.contains(document.activeElement) && !slotOf(article)?.contains(document.activeElement);
  const isOpen = article.querySelector(":scope > .actions > .menu")?.open;
  const heldAct = held ? document.activeElement?.dataset?.act : null;
  for (const part of [...article.children]) if (!part.classList.contains("slot")) part.remove();
  const parts = [head(node, discussion, marks), answersWhom && answers(node, discussion), body(node), acts?.(node)];
  article.prepend(...parts.filter(Boolean));
  const menu = article.querySelector(":scope > .actions > .menu");
  if (menu && isOpen) menu.open = true;
  article.dataset.state = node.state;
  article.dataset.revision = String(node.revision);
  article.classList.toggle("sending", Boolean(marks.isSending));
  article.classList.toggle("is-gone", !node.body);
  if (held) (article.querySelector(heldAct ? `[data-act="${heldAct}"]` : null) ?? article).focus({ preventScroll: true });
}

/** Where forms and questions about the comment are shown. */
export const slotOf = (article) => article.querySelector(":scope > .slot");

/** A row of buttons; what does not fit the eye goes into a menu. */
export function actionRow(main, more) {
  const row = el("div", { class: "actions" }, main);
  if (more.length === 1) {
    row.append(more[0]);
  } else if (more.length > 1) {
    const menu = el("details", { class: "menu" }, el("summary", {}, "More"), el("div", { class: "menu-items" }, more));
    menu.addEventListener("click", (event) => {
      if (event.target.closest("button")) menu.open = false;
    });
    menu.addEventListener("toggle", () => {
      if (menu.open) menu.querySelector(".menu-items").scrollIntoView({ block: "nearest" });
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    row.append(menu);
  }
  return row;
}

export const act = (name, text, run, props = {}) =>
  button(text, run, { class: "act", data: { act: name }, ...props });

// A menu closes when something else is used.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
