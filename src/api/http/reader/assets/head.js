// The top of a discussion: what it is about, how it is read and why, the way back from a link.

import { bdi, button, el } from "./dom.js";
import { drawPins, drawSwitches } from "./moderation.js";
import { ago, count, modeSentence, whole } from "./words.js";

const MODES = [["AUTO", "Automatic"], ["THREADED", "Threads"], ["LINEAR", "By date"]];
const ORDERS = [["OLDEST", "Oldest first"], ["NEWEST", "Newest first"]];

function subject({ url, entity }) {
  if (url) {
    const shown = url.replace(/^(https?:)?\/\//u, "");
    const href = /^https?:/u.test(url) ? url : `https:${url.startsWith("//") ? url : "//" + url}`;
    return el("a", { href, target: "_blank", rel: "noopener nofollow", class: "subject" }, shown);
  }
  return entity ? el("span", { class: "subject" }, `${entity.type} ${entity.id}`) : null;
}

function facts({ discussion, app }) {
  const { counts, newComments: fresh } = discussion;
  const parts = [
    !app.isFramed && subject(discussion),
    el("span", { class: "total" }, count(counts.visible, "comment")),
    !app.isFramed && el("time", { datetime: discussion.createdAt, title: whole(discussion.createdAt) }, "opened " + ago(discussion.createdAt)),
    fresh?.count > 0 && el("span", { class: "badge new" }, `${count(fresh.count, "new one", "new ones")}${fresh.atLeast ? " or more" : ""} since you were here`),
    discussion.state === "CLOSED" && el("span", { class: "badge closed" }, "Closed"),
    discussion.premoderated && el("span", { class: "badge pending" }, "Comments are checked first"),
  ];
  return el("p", { class: "facts" }, parts.filter(Boolean));
}

function switches(view) {
  const modes = MODES.map(([mode, text]) => el("button", {
    type: "button", class: "choice", "aria-pressed": String(view.mode === mode), data: { mode },
    on: { click: () => view.read(mode, view.order) },
  }, text));
  const order = el("select", { "aria-label": "Order", on: { change: (event) => view.read(view.mode, event.target.value) } },
    ORDERS.map(([value, text]) => el("option", { value, selected: view.order === value }, text)));
  return el("div", { class: "reading" },
    el("div", { class: "choices", role: "group", "aria-label": "How to read" }, modes),
    order,
    el("p", { class: "why" }, modeSentence(view.shownMode, view.shownReason)));
}

/** Who came by a link sees a part, and the ways on from it. */
function banner(view) {
  const whole = button("Show the whole discussion", () => view.app.openWhole(view), { class: "link", data: { whole: "" } });
  if (view.missing) {
    return el("div", { class: "note", role: "status" }, el("p", {}, "The comment of this link is not here: it was removed, or the link is wrong. This is the discussion."));
  }
  if (!view.context) return null;
  const back = view.app.canGoBack() && button("← Back to where you were", () => history.back(), { class: "link", data: { back: "" } });
  return el("nav", { class: "note context", "aria-label": "From the link" },
    el("p", {}, "A link led here: this is one comment with what is around it."),
    el("div", { class: "form-row" }, back, whole));
}

/** Draws only the line with the counts anew. */
export function drawFacts(view) {
  view.head.querySelector(":scope > .facts")?.replaceWith(facts(view));
}

/** Draws the head anew, with the focus where it was. */
export function drawHead(view) {
  const { head, discussion, app } = view;
  const held = head.contains(document.activeElement) ? document.activeElement.dataset : null;
  const title = discussion.title || discussion.url || "Discussion";
  head.replaceChildren();
  if (!app.isFramed) {
    head.append(el("p", { class: "crumbs" }, el("a", { href: "/" }, "← All discussions")));
    head.append(el("h1", { tabindex: "-1" }, bdi(title)));
  } else {
    head.append(el("h1", { class: "small", tabindex: "-1" }, "Comments"));
  }
  head.append(facts(view), switches(view), drawSwitches(view) ?? "", drawPins(view) ?? "");
  view.banner.replaceChildren(banner(view) ?? "");
  if (held?.mode) head.querySelector(`[data-mode="${held.mode}"]`)?.focus({ preventScroll: true });
}
