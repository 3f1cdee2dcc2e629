// What moderators have in a discussion: pins, closing, checking first, the way to the queue.

import { act, linkTo } from "./comment.js";
import * as documents from "./documents.js";
import { announce, bdi, button, el } from "./dom.js";
import { ask, change } from "./graphql.js";
import { peopleActs } from "./people.js";
import { reportDialog } from "./report.js";
import { failure, nameOf, refusal } from "./words.js";
import { tellIn } from "./actions.js";

const PINS_MAX = 10;

/** What is pinned, for everybody. */
export function drawPins({ discussion }) {
  const pinned = discussion.pinned ?? [];
  if (pinned.length === 0) return null;
  const line = (node) => el("li", {}, el("a", { href: linkTo(discussion.id, node.id), data: { focus: node.id } },
    bdi(nameOf(node.author)), ": ", el("span", { dir: "auto" }, (node.body?.text ?? "").replace(/\s+/gu, " ").slice(0, 160))));
  return el("section", { class: "pins", "aria-label": "Pinned comments" }, el("h2", {}, "Pinned"), el("ol", {}, pinned.map(line)));
}

/** The switches of the whole discussion, where the viewer moderates. */
export function drawSwitches(view) {
  const { discussion } = view;
  if (!discussion.viewerCan?.moderate) return null;
  const said = el("span", { class: "said", role: "status" });
  const run = (document_, variables, words) => async (event) => {
    const from = event.currentTarget;
    from.disabled = true;
    try {
      const changed = await change(document_, { discussion: discussion.id, ...variables });
      announce(words);
      view.events.discussionIs(changed);
    } catch (error) {
      said.textContent = failure(error);
      from.disabled = false;
    }
  };
  const isOpen = discussion.state === "OPEN";
  return el("div", { class: "note moderators", role: "group", "aria-label": "For moderators" },
    el("div", { class: "form-row" },
      isOpen
        ? button("Close", run(documents.SET_STATE, { state: "CLOSED" }, "Closed."), { class: "plain", data: { set: "closed" } })
        : button("Reopen", run(documents.SET_STATE, { state: "OPEN" }, "Open again."), { class: "plain", data: { set: "open" } }),
      discussion.premoderated
        ? button("Publish at once", run(documents.SET_PREMODERATION, { premoderated: false }, "New comments are published at once."), { class: "plain", data: { set: "at-once" } })
        : button("Check comments first", run(documents.SET_PREMODERATION, { premoderated: true }, "New comments wait for a moderator."), { class: "plain", data: { set: "first" } }),
      el("a", { href: `/moderation#d=${encodeURIComponent(discussion.id)}` }, "Queue of this discussion"),
      said));
}

async function pin(view, item, isPinned) {
  const ids = (view.discussion.pinned ?? []).map((node) => node.id).filter((id) => id !== item.id);
  const comments = isPinned ? [...ids, item.id] : ids;
  if (comments.length > PINS_MAX) {
    tellIn(item, `At most ${PINS_MAX} comments can be pinned.`);
    return;
  }
  try {
    const payload = await change(documents.PIN, { input: { discussion: view.discussion.id, comments } });
    if (payload.__typename === "CommentRefused") throw new Error(refusal(payload));
    announce(isPinned ? "Pinned." : "No longer pinned.");
    view.events.discussionIs(payload.discussion);
  } catch (error) {
    tellIn(item, failure(error));
  }
}

/** Reporting and pinning, beside what belongs to the comment itself. */
export function extraActs(view, node, item) {
  const { viewer } = view.app;
  const all = [];
  const isOthers = viewer && node.author && node.author.id !== viewer.user.id;
  if (isOthers && node.state === "PUBLISHED") all.push(act("report", "Report", () => reportDialog(node)));
  if (view.discussion.viewerCan?.moderate && node.state === "PUBLISHED") {
    const isPinned = view.discussion.pinned?.some((other) => other.id === node.id);
    all.push(isPinned
      ? act("unpin", "Unpin", () => pin(view, item(), false))
      : act("pin", "Pin", () => pin(view, item(), true)));
  }
  return [...all, ...peopleActs(view, node, item)];
}

/** The counts of a discussion as they are after what this page wrote. */
export async function countsOf(id) {
  return (await ask(documents.FACTS, { id })).discussion;
}
