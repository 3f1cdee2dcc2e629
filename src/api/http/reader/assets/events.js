// What comes in while one reads. Nothing moves under the reader's eyes: what would lie above their
// place waits behind a button, what lies below goes in at once, and counts are always right.

import * as documents from "./documents.js";
import { announce, button, byId, el, focusOn } from "./dom.js";
import { ask } from "./graphql.js";
import { drawFacts } from "./head.js";
import { Live } from "./live.js";
import { count } from "./words.js";

const WORDS = { live: "Live", off: "Not live: reconnecting …" };
const BATCH = 50;

export class Events {
  constructor(view) {
    this.view = view;
    this.waiting = new Map();
    this.held = [];
    this.unknown = new Set();
    this.sending = 0;
    this.place = el("div", { class: "arrivals" });
  }

  start(after) {
    this.stop();
    this.waiting.clear();
    this.draw();
    const { discussion } = this.view;
    if (!discussion) return;
    this.live = new Live(documents.EVENTS, discussion.id, after ?? null, {
      event: (event) => this.take(event),
      state: (state) => this.mark(state),
    });
    this.live.start();
  }

  stop() {
    this.live?.stop();
    this.live = null;
    byId("live").hidden = true;
  }

  mark(state) {
    const place = byId("live");
    place.hidden = false;
    place.dataset.state = state;
    place.textContent = WORDS[state];
  }

  take(event) {
    const { view } = this;
    if (event.discussion) this.discussionIs(event.discussion);
    if (event.kind === "RESYNC") {
      this.resync();
      return;
    }
    if (!event.commentId) return;
    if (!event.comment) {
      this.gone(event.commentId);
      return;
    }
    const mine = view.app.viewer && event.comment.author?.id === view.app.viewer.user.id;
    if (this.sending > 0 && mine && !view.thread.get(event.commentId)) {
      this.held.push(event.comment);
      return;
    }
    this.comment(event.comment);
  }

  discussionIs(discussion) {
    const { view } = this;
    const before = view.discussion;
    view.discussion = { ...before, ...discussion };
    const shown = (it) => [it.title, it.state, it.premoderated, ...(it.pinned ?? []).map((node) => node.id)].join("\n");
    if (shown(before) === shown(view.discussion)) {
      drawFacts(view);
      return;
    }
    view.drawHeading();
    view.drawWriting();
    view.thread?.redrawAll();
  }

  gone(id) {
    this.waiting.delete(id);
    for (const [other, { comment }] of this.waiting) if (comment.parent?.id === id) this.waiting.delete(other);
    this.view.thread.remove(id);
    this.draw();
  }

  comment(comment) {
    const { thread } = this.view;
    const waiting = this.waiting.get(comment.id);
    if (waiting) waiting.comment = comment;
    if (thread.get(comment.id)) {
      thread.update(comment);
      this.learn(comment.id);
    } else if (!waiting) {
      this.arrive(comment);
    }
  }

  /** A comment that is not shown: it goes in, waits, or lies beyond what is loaded. */
  arrive(comment) {
    const { view } = this;
    const { thread } = view;
    const rootId = thread.threaded ? comment.root?.id : null;
    const root = rootId ? thread.get(rootId) : null;
    if (rootId && !root) return;
    if (root) {
      const { branch } = root;
      if (branch && typeof branch.total === "number") branch.total += 1;
      if (branch?.hasAfter) {
        thread.drawBranch(root);
        return;
      }
    } else if (!this.isWithin(comment)) {
      if (typeof view.total === "number") view.total += 1;
      view.drawBars();
      return;
    }
    if (this.isBelow(root)) this.show(comment, root);
    else this.wait(comment, root);
  }

  /** Whether the list is loaded where this comment lies. */
  isWithin(comment) {
    const { edge, thread } = this.view;
    const time = (node) => (thread.newestFirst ? -1 : 1) * Date.parse(node.createdAt);
    const first = thread.list.firstElementChild?.item;
    const last = thread.list.lastElementChild?.item;
    const isAfter = edge.hasAfter && last && time(comment) > time(last.node);
    const isBefore = edge.hasBefore && first && time(comment) < time(first.node);
    return !isAfter && !isBefore;
  }

  /** Whether it may go in at once: nothing that is being read would move. */
  isBelow(root) {
    const { thread, app } = this.view;
    if (!thread.list.isConnected) return true;
    const isLast = root ? root.li === thread.list.lastElementChild : !thread.newestFirst;
    const box = (root ? root.li : thread.list).getBoundingClientRect();
    const at = root || !thread.newestFirst ? box.bottom : box.top;
    const typing = document.activeElement?.matches("textarea, input") ? document.activeElement.getBoundingClientRect().top : Infinity;
    if (typing > at && typing !== Infinity) return false;
    return isLast || (!app.isFramed && at > innerHeight * 0.6);
  }

  show(comment, root) {
    const { view } = this;
    view.place.querySelector(".none")?.remove();
    view.fresh ??= new Set();
    view.fresh.add(comment.id);
    const item = view.thread.place(comment, root);
    if (root?.kids) root.kids.hidden = false;
    if (!root && typeof view.total === "number") view.total += 1;
    this.learn(comment.id);
    return item;
  }

  wait(comment, root) {
    this.waiting.set(comment.id, { comment, root });
    this.draw();
    if (this.waiting.size === 1) announce("There are new comments.");
  }

  draw() {
    this.place.replaceChildren();
    if (this.waiting.size === 0) return;
    const text = count(this.waiting.size, "new comment");
    this.place.append(button(text, () => this.showWaiting(), { class: "arrived" }));
  }

  showWaiting() {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.draw();
    const items = waiting.map(({ comment, root }) => this.show(comment, root));
    focusOn(items[0]?.article, "center");
  }

  /** What the viewer may do with comments that came in an event, which says nothing about it. */
  learn(id) {
    if (!this.view.app.viewer) return;
    this.unknown.add(id);
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.askAbilities(), 150);
  }

  async askAbilities() {
    const ids = [...this.unknown].slice(0, BATCH);
    for (const id of ids) this.unknown.delete(id);
    try {
      await this.readAgain(ids);
    } catch {
      // The buttons are missing until the next load; the texts are there.
    }
    if (this.unknown.size > 0) await this.askAbilities();
  }

  async readAgain(ids) {
    if (ids.length === 0) return;
    const { nodes } = await ask(documents.AGAIN, { ids });
    nodes.forEach((node, at) => {
      if (node) this.view.thread.update(node);
      else this.view.thread.remove(ids[at]);
    });
  }

  /** Reads what is shown anew, in its place; forms stay. */
  async resync() {
    const { view } = this;
    const ids = [...view.thread.items.values()].filter((item) => !item.node.isProvisional).map((item) => item.id);
    try {
      for (let at = 0; at < ids.length; at += BATCH) await this.readAgain(ids.slice(at, at + BATCH));
      const { nodes } = await ask(documents.BRANCHES, { ids: [...view.thread.list.children].map((li) => li.item.id).slice(0, 100) });
      for (const node of nodes) this.branchIs(node);
      if (!view.edge.hasAfter && !view.thread.newestFirst) await view.lookFurther();
    } catch {
      this.mark("off");
    }
  }

  branchIs(node) {
    const root = node && this.view.thread.get(node.id);
    if (!root?.branch || !node.counts || root.branch.hasAfter) return;
    const shown = [...this.view.thread.items.values()].filter((item) => item.root === root && item.node.body).length;
    if (node.counts.visible <= shown) return;
    Object.assign(root.branch, { hasAfter: true, total: null });
    this.view.thread.drawBranch(root);
  }

  /** Between a write and its answer: its own event may be quicker than the answer. */
  began() {
    this.sending += 1;
    return () => {
      this.sending -= 1;
      setTimeout(() => {
        if (this.sending > 0) return;
        for (const comment of this.held.splice(0)) this.comment(comment);
      });
    };
  }
}
