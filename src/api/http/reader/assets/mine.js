// What is about the reader: answers to what they wrote, and whom they block.

import { show } from "./account.js";
import { drawComment, linkTo } from "./comment.js";
import * as documents from "./person_documents.js";
import { announce, bdi, button, el, focusOn } from "./dom.js";
import { ask, change } from "./graphql.js";
import { changePerson } from "./people.js";
import { count, failure, nameOf } from "./words.js";

const PAGE = 20;
const ERASED = {
  RUNNING: "Your data is being erased. It goes on when you leave.",
  EMPTIED: "Your data is erased: nothing of it can be read any more.",
  DONE: "Your data is erased, also from the files of the server.",
};

export class MineView {
  constructor(app) {
    this.app = app;
    this.title = "Answers to you";
    this.said = el("p", { class: "facts", role: "status" });
    this.list = el("ol", { class: "queue" });
    this.below = el("div", { class: "bar-more" });
    this.blocked = el("ul", { class: "people" });
    this.element = el("div", {},
      el("h1", { tabindex: "-1" }, "Answers to you"), this.said, this.list, this.below,
      el("h2", {}, "People you block"), this.blocked,
      el("h2", {}, "Your data"),
      el("p", {}, "Everything you wrote can be erased: your comments, name, blocks and marks."),
      button("Erase my data", () => this.erase(), { class: "danger" }));
  }

  async open() {
    if (!this.app.viewer) throw new Error("Sign in to see what is about you.");
    this.list.replaceChildren();
    this.end = null;
    await Promise.all([this.load(), this.loadBlocked()]);
  }

  async load() {
    const { viewer } = await ask(documents.REPLIES_TO_ME, { first: PAGE, after: this.end });
    const page = viewer.replies;
    if (!page) throw new Error("The answers could not be loaded.");
    const rows = page.edges.map(({ node }) => this.row(node));
    if (!this.end) this.newest = page.edges[0]?.node.comment.id;
    this.list.append(...rows);
    this.end = page.pageInfo.endCursor;
    this.tell(page.unreadCount);
    this.below.replaceChildren();
    if (page.pageInfo.hasNextPage) {
      this.below.append(button("Show older answers", (event) => this.more(event.currentTarget), { class: "wide-button" }));
    }
    return rows;
  }

  tell(unread) {
    this.said.replaceChildren();
    if (this.list.childElementCount === 0) {
      this.said.append("Nobody has answered you yet.");
    } else if (unread > 0) {
      this.said.append(count(unread, "new answer"), button("Mark all as read", (event) => this.readAll(event.currentTarget), { class: "link" }));
    } else {
      this.said.append("You have seen them all.");
    }
  }

  async more(from) {
    from.disabled = true;
    try {
      focusOn((await this.load())[0]?.querySelector("article"));
    } catch (error) {
      from.disabled = false;
      from.after(el("p", { class: "note alert", role: "alert" }, failure(error)));
    }
  }

  async readAll(from) {
    from.disabled = true;
    try {
      await change(documents.MARK_READ, { upTo: this.newest });
      for (const badge of this.list.querySelectorAll(".badge.new")) badge.remove();
      this.tell(0);
      announce("All marked as read.");
      await this.app.meet();
    } catch (error) {
      from.disabled = false;
      from.after(el("span", { class: "note alert", role: "alert" }, failure(error)));
    }
  }

  row({ comment, isUnread }) {
    const { discussion } = comment;
    return el("li", { class: "item" },
      el("p", { class: "facts" }, el("a", { href: linkTo(discussion.id, comment.id) }, bdi(discussion.title || discussion.url || "Discussion"))),
      drawComment(comment, { discussion: discussion.id, answersWhom: true, marks: { isNew: isUnread } }));
  }

  /** Asks twice: it cannot be undone. */
  erase() {
    const said = el("div", { class: "said" });
    const sure = el("input", { type: "checkbox", id: "sure" });
    const yes = button("Erase everything", async () => {
      yes.disabled = true;
      try {
        const { state } = await change(documents.ERASE, { confirm: this.app.viewer.user.id });
        dialog.close();
        this.said.textContent = ERASED[state] ?? "Your data is being erased.";
        announce(this.said.textContent);
      } catch (error) {
        said.replaceChildren(el("div", { class: "note alert", role: "alert" }, el("p", {}, failure(error))));
        yes.disabled = false;
      }
    }, { class: "danger", disabled: true });
    sure.addEventListener("change", () => { yes.disabled = !sure.checked; });
    const dialog = el("dialog", { "aria-labelledby": "erase-title" },
      el("h2", { id: "erase-title" }, "Erase your data"),
      el("p", {}, "Your comments become empty places, with the answers to them kept. Nobody can bring them back."),
      el("label", { class: "check" }, sure, "I know that this is final"),
      said,
      el("div", { class: "form-row" }, yes, button("Keep everything", () => dialog.close(), { class: "plain" })));
    show(dialog);
  }

  async loadBlocked() {
    const { viewer } = await ask(documents.BLOCKED, { first: 100 });
    const people = viewer.blocked?.edges.map((edge) => edge.node) ?? [];
    if (people.length === 0) {
      this.blocked.replaceChildren(el("li", { class: "quiet" }, "Nobody."));
      return;
    }
    this.blocked.replaceChildren(...people.map((user) => this.person(user)));
  }

  person(user) {
    const li = el("li", {}, el("span", {}, bdi(nameOf(user))), button("Unblock", async (event) => {
      const from = event.currentTarget;
      from.disabled = true;
      try {
        await changePerson(documents.UNBLOCK, { user: user.id });
        announce("No longer blocked.");
        await this.loadBlocked();
        this.element.querySelector("h1").focus({ preventScroll: true });
      } catch (error) {
        from.disabled = false;
        li.append(el("span", { class: "note alert", role: "alert" }, failure(error)));
      }
    }, { class: "plain" }));
    return li;
  }
}
