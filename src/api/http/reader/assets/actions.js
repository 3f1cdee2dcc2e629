// What may be done with a comment, as buttons: shown only where the server says the viewer can.

import { act, actionRow, linkTo, slotOf } from "./comment.js";
import { Form, must, question } from "./compose.js";
import * as documents from "./documents.js";
import { announce, button, el } from "./dom.js";
import { ask, change } from "./graphql.js";
import { failure, nameOf } from "./words.js";

/** The buttons of one comment in a view. */
export function actsOf(view, extra = () => []) {
  return (node) => {
    if (node.isProvisional) return null;
    const can = node.viewerCan ?? {};
    const item = () => view.thread.get(node.id);
    const main = [];
    const more = [];
    if (can.reply && view.canWrite()) main.push(act("reply", "Reply", () => reply(view, item())));
    if (can.edit) main.push(act("edit", "Edit", () => edit(view, item())));
    if (node.state === "PENDING" && can.moderate) main.push(act("approve", "Approve", () => moderate(view, item(), documents.APPROVE, "Approved.")));
    if (node.state === "HIDDEN" && can.moderate) main.push(act("restore", "Restore", () => moderate(view, item(), documents.RESTORE, "Restored.")));
    if (node.body) more.push(act("link", "Copy link", () => copyLink(view, node)));
    if (can.delete) more.push(act("delete", "Delete", () => remove(view, item())));
    if (can.moderate && (node.state === "PUBLISHED" || node.state === "PENDING")) {
      more.push(act("hide", "Hide", () => moderate(view, item(), documents.HIDE, "Hidden.")));
    }
    more.push(...extra(view, node, item));
    if (main.length + more.length === 0) return null;
    return actionRow(main, more);
  };
}

/** Opens one thing at a time in the slot of a comment. */
function openSlot(item, build) {
  const slot = slotOf(item.article);
  const close = () => {
    slot.replaceChildren();
    item.article.focus({ preventScroll: true });
  };
  slot.replaceChildren(build(close));
}

export function reply(view, item) {
  if (!item) return;
  openSlot(item, (close) => {
    const form = new Form({
      place: `${view.key}.reply.${item.id}`,
      label: `Your reply to ${nameOf(item.node.author)}`,
      submit: "Post reply",
      cancel: close,
      sending: (text) => view.showSending(text, item),
      send: (body, format, key) => change(documents.CREATE, {
        input: { discussion: view.discussion.id, parent: item.id, body, format, key },
      }),
      done: (comment) => {
        close();
        view.showWritten(comment);
      },
    });
    queueMicrotask(() => form.focus());
    return form.element;
  });
}

export async function edit(view, item) {
  let current;
  try {
    current = (await ask(documents.ONE, { id: item.id })).comment;
  } catch (error) {
    return tellIn(item, failure(error));
  }
  if (!current?.body) return tellIn(item, "This comment cannot be changed any more.");
  let revision = current.revision;
  return openSlot(item, (close) => {
    const form = new Form({
      place: `${view.key}.edit.${item.id}`,
      label: "Your comment",
      submit: "Save",
      text: current.body.source,
      format: current.body.format,
      cancel: close,
      sending: (text) => showEditing(view, item, text),
      send: (body, format) => change(documents.EDIT, {
        input: { comment: item.id, expectedRevision: revision, body, format },
      }),
      stale: (comment, it) => [
        el("blockquote", { dir: "auto" }, comment.body?.text ?? "(no text)"),
        button("Save mine over it", () => {
          revision = comment.revision;
          it.run();
        }, { class: "primary" }),
        button("Take the newer text", () => {
          revision = comment.revision;
          it.area.value = comment.body?.source ?? "";
          it.typed();
          it.said.replaceChildren();
        }, { class: "plain" }),
      ],
      done: (comment) => {
        close();
        view.thread.update(comment);
        item.article.focus({ preventScroll: true });
      },
    });
    queueMicrotask(() => form.focus());
    return form.element;
  });
}

/** The new text at once; what undoes it draws the old one. */
function showEditing(view, item, text) {
  const before = item.node;
  item.node = { ...before, body: { text } };
  view.thread.mark(item, "Saving …");
  return () => {
    item.node = before;
    view.thread.mark(item, null);
  };
}

function remove(view, item) {
  openSlot(item, (close) => question(
    "Delete this comment? Its text is gone for good; answers to it stay.", "Delete", "Keep it",
    async () => {
      const before = item.node;
      item.node = { ...before, state: "DELETED", body: null, author: null };
      view.thread.mark(item, "Deleting …");
      try {
        const comment = await must(documents.DELETE, { comment: item.id });
        item.node = before;
        view.thread.update({ ...comment, viewerCan: comment.viewerCan ?? {} });
        view.recount(comment);
        announce("Deleted.");
        close();
      } catch (error) {
        item.node = before;
        throw error;
      } finally {
        view.thread.mark(item, null);
      }
    }, close));
}

async function moderate(view, item, document_, said) {
  try {
    const comment = await must(document_, { comment: item.id, expectedRevision: item.node.revision });
    view.thread.update(comment);
    view.recount(comment);
    announce(said);
  } catch (error) {
    if (error.refused?.comment) view.thread.update(error.refused.comment);
    tellIn(item, failure(error));
  }
}

async function copyLink(view, node) {
  const link = new URL(linkTo(view.discussion.id, node.id), location.origin).href;
  try {
    await navigator.clipboard.writeText(link);
    announce("Link copied.");
  } catch {
    const field = el("input", { class: "copy", readonly: true, value: link, "aria-label": "Link to this comment" });
    openSlot(view.thread.get(node.id), (close) => el("div", { class: "form-row" }, field, button("Done", close, { class: "plain" })));
    field.select();
  }
}

/** Says something below a comment, with a way to put it away. */
export function tellIn(item, text) {
  openSlot(item, (close) => el("div", { class: "note alert", role: "alert" },
    el("p", {}, text), button("Close", close, { class: "plain" })));
}

export { openSlot };
