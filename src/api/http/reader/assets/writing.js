// Writing in a discussion: the form on top, what is shown while a text is on its way and after.

import { Form } from "./compose.js";
import * as documents from "./documents.js";
import { button, calm, el, focusOn } from "./dom.js";
import { change } from "./graphql.js";
import { countsOf } from "./moderation.js";

/** Draws the form, or why there is none. A text that is being typed is never replaced. */
export function drawWriting(view) {
  const { writing, app, discussion } = view;
  if (discussion?.state === "CLOSED") {
    const begun = writing.querySelector("textarea")?.value.trim();
    if (begun) return;
    writing.replaceChildren(el("p", { class: "note" }, "This discussion is closed: it can be read, but takes no new comments."));
  } else if (!app.viewer) {
    writing.replaceChildren(el("p", { class: "note" }, "To write a comment, ",
      button("sign in", () => app.signIn(), { class: "link" }), "."));
  } else if (!writing.querySelector("textarea") || writing.dataset.user !== app.viewer.user.id) {
    writing.dataset.user = app.viewer.user.id;
    writing.replaceChildren(rootForm(view).element);
  }
}

function rootForm(view) {
  const target = () => (view.discussion ? { discussion: view.discussion.id } : view.name);
  return new Form({
    place: `${view.key}.root`,
    label: "Your comment",
    submit: "Post comment",
    sending: (text) => (view.discussion ? showSending(view, text, null) : null),
    send: (body, format, key) => change(documents.CREATE, { input: { ...target(), body, format, key } }),
    done: async (comment) => {
      if (view.discussion) return showWritten(view, comment);
      await view.open();
      return focusOn(view.thread.get(comment.id)?.article);
    },
  });
}

function rootOf(view, item) {
  return view.thread.threaded ? (item?.root ?? item ?? null) : null;
}

/** Shows a text while it is on its way; returns what takes it away again. */
export function showSending(view, text, parent) {
  const id = `sending-${Math.random().toString(36).slice(2)}`;
  const node = {
    id, isProvisional: true, createdAt: new Date().toISOString(), editedAt: null, revision: 0, state: "PUBLISHED",
    author: view.app.viewer.user, body: { text }, viewerCan: {},
    parent: parent ? { id: parent.id, state: parent.node.state, author: parent.node.author, body: parent.node.body } : null,
  };
  const item = view.thread.place(node, rootOf(view, parent));
  showKids(item);
  view.thread.mark(item, "Sending …");
  const ended = view.events.began();
  return () => {
    view.thread.remove(id);
    ended();
  };
}

function showKids(item) {
  if (item.root?.kids) item.root.kids.hidden = false;
}

export function showWritten(view, comment) {
  view.place.querySelector(".none")?.remove();
  const parent = comment.parent ? view.thread.get(comment.parent.id) : null;
  const item = view.thread.place(comment, rootOf(view, parent));
  showKids(item);
  recount(view);
  item.article.classList.add("just-written");
  item.article.focus({ preventScroll: true });
  item.article.scrollIntoView({ block: "center", behavior: calm() ? "instant" : "smooth" });
}

/** Asks for the counts as they are now. */
export async function recount(view) {
  try {
    const discussion = await countsOf(view.discussion.id);
    if (discussion) view.events.discussionIs(discussion);
  } catch {
    // The next event or page tells them.
  }
}
