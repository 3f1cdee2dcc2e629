// One discussion: its first page or the way to one comment, further pages both ways, writing.

import { actsOf } from "./actions.js";
import { takeContext } from "./context.js";
import { drawHead } from "./head.js";
import * as documents from "./documents.js";
import { announce, button, byId, el, focusOn, keepPlace } from "./dom.js";
import { ask } from "./graphql.js";
import { read, write } from "./kept.js";
import { Events } from "./events.js";
import { extraActs } from "./moderation.js";
import { sawAll } from "./people.js";
import { Thread } from "./thread.js";
import { count, failure, number } from "./words.js";
import { drawWriting, recount, showSending, showWritten } from "./writing.js";

const PAGE = 20;
const REPLIES_FIRST = 3;
const REPLIES_MORE = 20;
const SIBLINGS = 3;

export class DiscussionView {
  /** `key`: {id}, {url} or {entity}; `focus`: a comment's id; `app`: the page around it. */
  constructor(app, key, focus = null) {
    Object.assign(this, { app, name: key, focus });
    this.mode = read("mode") ?? "AUTO";
    this.order = read("order") ?? "OLDEST";
    this.element = el("div", { class: "discussion" });
    this.head = el("div", { class: "head" });
    this.writing = el("section", { class: "writing", "aria-label": "Write" });
    this.above = el("div", { class: "bar-more" });
    this.below = el("div", { class: "bar-more" });
    this.place = el("div", { class: "place" });
    this.events = new Events(this);
    this.banner = el("div", { class: "banner" });
    this.element.append(this.head, this.writing, this.banner, this.events.place, el("h2", { class: "unseen" }, "Comments"),
      this.above, this.place, this.below);
  }

  get key() {
    return this.discussion?.id ?? JSON.stringify(this.name);
  }

  get title() {
    return this.discussion?.title || this.discussion?.url || "Discussion";
  }

  canWrite() {
    return Boolean(this.app.viewer) && this.discussion?.state !== "CLOSED";
  }

  window() {
    return { mode: this.mode, order: this.order, replies: REPLIES_FIRST };
  }

  async open() {
    if (this.focus && (await this.openContext())) return;
    const data = await ask(documents.OPEN, { ...this.name, ...this.window(), first: PAGE });
    this.take(data);
  }

  take({ discussion }) {
    this.discussion = discussion;
    if (!discussion) {
      this.takeNothing();
      return;
    }
    const page = discussion.comments;
    this.context = null;
    if (!page) throw new Error("The comments could not be loaded.");
    this.start(page.mode, page.modeReason);
    this.takePage(page);
    this.draw();
    this.events.start(discussion.liveCursor);
  }

  start(mode, reason) {
    Object.assign(this, { shownMode: mode, shownReason: reason });
    this.thread = new Thread({
      threaded: mode === "THREADED",
      newestFirst: this.order === "NEWEST" && !this.context,
      acts: actsOf(this, extraActs),
      marksOf: (node) => this.marksOf(node),
      moreReplies: (root, back, from) => this.moreReplies(root, back, from),
      discussion: this.discussion.id,
    });
    this.edge = { start: null, end: null, hasBefore: false, hasAfter: false };
    this.place.replaceChildren(this.thread.list);
  }

  marksOf(node) {
    const isPinned = this.discussion.pinned?.some((other) => other.id === node.id);
    const { viewerSeenAt } = this.discussion;
    const isLater = viewerSeenAt && node.author?.id !== this.app.viewer?.user.id && Date.parse(node.createdAt) > Date.parse(viewerSeenAt);
    return { isPinned, isNew: this.fresh?.has(node.id) || isLater };
  }

  takePage(page, ahead = false) {
    const { pageInfo } = page;
    const isFirst = this.thread.items.size === 0;
    const added = this.thread.addPage(page.edges, ahead);
    if (isFirst || ahead) Object.assign(this.edge, { start: pageInfo.startCursor ?? this.edge.start, hasBefore: pageInfo.hasPreviousPage });
    if (isFirst || !ahead) Object.assign(this.edge, { end: pageInfo.endCursor ?? this.edge.end, hasAfter: pageInfo.hasNextPage });
    this.total = page.totalCount ?? this.total;
    return added;
  }

  takeNothing() {
    this.head.replaceChildren();
    if (this.name.id) throw new Error("There is no such discussion, or you may not see it.");
    this.place.replaceChildren(el("p", { class: "quiet" }, "No comments yet."));
    this.drawWriting();
  }

  // ---- the way to one comment

  async openContext() {
    const data = await ask(documents.CONTEXT, {
      ...this.name, comment: this.focus, siblings: SIBLINGS, replies: REPLIES_FIRST,
    });
    const context = data.discussion?.context;
    if (!context) {
      this.missing = true;
      this.focus = null;
      return false;
    }
    this.discussion = data.discussion;
    this.context = context;
    this.start(context.mode, context.modeReason);
    takeContext(this, context);
    this.draw();
    this.events.start(this.discussion.liveCursor);
    return true;
  }

  shown() {
    if (!this.focus) return;
    const item = this.thread?.get(this.focus);
    if (!item) return;
    item.article.classList.add("target");
    item.article.focus({ preventScroll: true });
    item.article.scrollIntoView({ block: "center", behavior: "instant" });
  }

  /** Another view is shown: nothing comes in until this one is shown again, and then all of it. */
  rest() {
    this.events.live?.stop();
    byId("live").hidden = true;
  }

  wake() {
    this.events.live?.start();
  }

  close() {
    this.events.stop();
  }

  // ---- further pages

  /** What follows the end by now. */
  async lookFurther() {
    const args = { id: this.discussion.id, ...this.window(), mode: this.shownMode, order: "OLDEST", first: PAGE };
    const data = await ask(documents.MORE, { ...args, after: this.edge.end });
    const page = data.discussion?.comments;
    if (!page) return;
    this.takePage(page);
    this.drawBars();
  }

  async more(ahead, from) {
    const args = ahead ? { last: PAGE, before: this.edge.start } : { first: PAGE, after: this.edge.end };
    await this.loading(from, async () => {
      const order = this.context ? "OLDEST" : this.order;
      const mode = this.context ? this.shownMode : this.mode;
      const data = await ask(documents.MORE, { id: this.discussion.id, ...this.window(), mode, order, ...args });
      const page = data.discussion?.comments;
      if (!page) throw new Error("The next page could not be loaded.");
      const anchor = ahead ? this.thread.list.firstElementChild : null;
      const added = keepPlace(anchor, () => this.takePage(page, ahead));
      if (page.mode !== this.shownMode) this.modeChanged(page);
      this.edge[ahead ? "before" : "after"] = null;
      this.drawBars();
      announce(count(added.length, "more comment", "more comments") + " loaded.");
      focusOn((ahead ? added.at(-1) : added[0])?.article);
    });
  }

  modeChanged(page) {
    Object.assign(this, { shownMode: page.mode, shownReason: page.modeReason });
    this.drawHeading();
  }

  async moreReplies(root, back, from) {
    const { branch } = root;
    const args = back ? { last: REPLIES_MORE, before: branch.start } : { first: REPLIES_MORE, after: branch.end };
    await this.loading(from, async () => {
      const { comment } = await ask(documents.MORE_REPLIES, { id: root.id, ...args });
      if (!comment?.replies) throw new Error("Threads cannot be read at the moment. Choose “By date” to read on.");
      const before = new Set(this.thread.items.keys());
      branch[back ? "before" : "after"] = null;
      const anchor = back ? root.kids?.firstElementChild : null;
      keepPlace(anchor, () => this.thread.setBranch(root, comment.replies, back));
      const fresh = comment.replies.edges.map((edge) => edge.node.id).filter((id) => !before.has(id));
      announce(count(fresh.length, "more reply", "more replies") + " loaded.");
      focusOn(this.thread.get(back ? fresh.at(-1) : fresh[0])?.article);
    });
  }

  /** Runs with the button at rest; a failure is told beside it, and it can be pressed again. */
  async loading(from, run) {
    const old = from?.parentElement?.querySelector(".note");
    old?.remove();
    if (from) from.disabled = true;
    try {
      await run();
    } catch (error) {
      from?.after(el("span", { class: "note alert", role: "alert" }, failure(error)));
    } finally {
      if (from) from.disabled = false;
    }
  }

  // ---- drawing

  draw() {
    this.drawHeading();
    this.drawWriting();
    this.drawBars();
    if (this.thread && this.thread.items.size === 0) {
      this.place.append(el("p", { class: "quiet none" }, "No comments yet."));
    }
  }

  drawHeading() {
    drawHead(this);
  }

  drawBars() {
    sawAll(this);
    const bar = (place, has, gap, text, ahead) => {
      place.replaceChildren();
      if (!has) return;
      const many = gap ? ` (${number(gap.count)}${gap.atLeast ? " or more" : ""})` : "";
      place.append(button(text + many, (event) => this.more(ahead, event.currentTarget), { class: "wide-button" }));
    };
    const newest = this.order === "NEWEST" && !this.context;
    const left = !this.context && this.thread?.threaded && !this.edge.hasBefore && this.total
      ? { count: this.total - this.rootsShown(), atLeast: false } : null;
    const after = this.edge.after ?? (left?.count > 0 ? left : null);
    bar(this.above, this.edge.hasBefore, this.edge.before, newest ? "Show newer comments" : "Show earlier comments", true);
    bar(this.below, this.edge.hasAfter, after, newest ? "Show older comments" : "Show more comments", false);
  }

  rootsShown() {
    return this.thread.list.childElementCount;
  }

  drawWriting() {
    drawWriting(this);
  }

  showSending(text, parent) {
    return showSending(this, text, parent);
  }

  showWritten(comment) {
    showWritten(this, comment);
  }

  recount() {
    recount(this);
  }

  async read(mode, order) {
    Object.assign(this, { mode, order, focus: null });
    write("mode", mode);
    write("order", order);
    this.place.setAttribute("aria-busy", "true");
    try {
      this.take(await ask(documents.OPEN, { id: this.discussion.id, ...this.window(), first: PAGE }));
      announce(this.shownMode === "THREADED" ? "Shown as threads." : "Shown by date.");
    } catch (error) {
      this.place.prepend(el("p", { class: "note alert", role: "alert" }, failure(error)));
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  /** The viewer changed: what may be done is asked for anew. */
  async viewerChanged() {
    await this.open();
  }
}
