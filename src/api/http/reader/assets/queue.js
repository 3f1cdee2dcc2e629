// The moderation queue: what waits to be let through and what people reported.

import { act, actionRow, drawComment, linkTo, redraw } from "./comment.js";
import { must } from "./compose.js";
import * as documents from "./documents.js";
import { announce, bdi, button, el, focusOn } from "./dom.js";
import { ask, change } from "./graphql.js";
import { REASONS } from "./report.js";
import { ago, count, failure, refusal, whole } from "./words.js";

const PAGE = 20;
const KINDS = [["", "Everything"], ["PENDING", "Waiting to be published"], ["REPORTED", "Reported"]];

export class QueueView {
  constructor(app, discussion = null) {
    Object.assign(this, { app, discussion, kind: "", reason: "" });
    this.title = "Moderation";
    this.list = el("ol", { class: "queue" });
    this.total = el("p", { class: "facts", role: "status" });
    this.below = el("div", { class: "bar-more" });
    this.element = el("div", {}, el("h1", { tabindex: "-1" }, "Moderation"), this.filters(), this.total, this.list, this.below);
  }

  filters() {
    const choose = (label, name, options) => el("label", { class: "filter" }, el("span", {}, label),
      el("select", { on: { change: (event) => { this[name] = event.target.value; this.app.show(this); } } },
        options.map(([value, text]) => el("option", { value }, text))));
    return el("div", { class: "form-row" },
      choose("Show", "kind", KINDS),
      choose("Reason", "reason", [["", "Any"], ...Object.entries(REASONS)]),
      this.discussion && el("a", { href: "/moderation" }, "All discussions"));
  }

  async open() {
    if (!this.app.moderates) throw new Error("This page is for moderators. Sign in as one to see it.");
    this.list.replaceChildren();
    this.end = null;
    await this.load();
  }

  async load() {
    const data = await ask(documents.QUEUE, {
      first: PAGE, after: this.end, discussion: this.discussion, kind: this.kind || null, reason: this.reason || null,
    });
    const page = data.moderationQueue;
    if (!page) throw new Error("The queue could not be loaded.");
    const rows = page.edges.map(({ node }) => this.row(node));
    this.list.append(...rows);
    this.end = page.pageInfo.endCursor;
    this.count(page.totalCount);
    this.below.replaceChildren();
    if (page.pageInfo.hasNextPage) {
      this.below.append(button("Show more", (event) => this.more(event.currentTarget), { class: "wide-button" }));
    }
    return rows;
  }

  count(total) {
    this.left = Math.max(total, 0);
    this.total.textContent = this.left === 0 ? "Nothing waits here." : `${count(this.left, "comment")} to look at`;
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

  row(item) {
    const { comment } = item;
    const { discussion } = comment;
    const said = el("div", { class: "said" });
    const li = el("li", { class: "item" });
    const draw = { discussion: discussion.id, answersWhom: Boolean(comment.parent), acts: () => this.acts(item, li, said) };
    const article = drawComment(comment, draw);
    li.draw = (node) => redraw(article, node, { ...draw, acts: null });
    li.append(
      el("p", { class: "facts" },
        el("a", { href: linkTo(discussion.id, comment.id) }, bdi(discussion.title || discussion.url || "Discussion")),
        el("time", { datetime: item.since, title: whole(item.since) }, "since " + ago(item.since)),
        item.kinds.includes("PENDING") && el("span", { class: "badge pending" }, "Waits"),
        item.reportCount > 0 && el("span", { class: "badge hidden" }, count(item.reportCount, "report"))),
      article, this.reports(item), said);
    return li;
  }

  reports(item) {
    if (item.reportCount === 0) return null;
    const line = (report) => el("li", {}, el("strong", {}, REASONS[report.reason] ?? report.reason),
      report.text ? [": ", el("span", { dir: "auto" }, report.text)] : null);
    return el("ul", { class: "reports", "aria-label": "Reports" }, item.reports.map(line));
  }

  acts(item, li, said) {
    const { id } = item.comment;
    const on = (name, text, run, words) => act(name, text, async () => {
      for (const it of li.querySelectorAll("button")) it.disabled = true;
      try {
        await run();
        this.done(li, words);
      } catch (error) {
        for (const it of li.querySelectorAll("button")) it.disabled = false;
        said.replaceChildren(el("div", { class: "note alert", role: "alert" }, el("p", {}, failure(error))));
      }
    });
    const revision = item.comment.revision;
    const moderate = (document_) => () => must(document_, { comment: id, expectedRevision: revision });
    const all = [];
    if (item.kinds.includes("PENDING")) all.push(on("approve", "Approve", moderate(documents.APPROVE), "Approved."));
    if (item.reportCount > 0) all.push(on("dismiss", "Keep it, answer the reports", () => this.dismiss(id), "Kept."));
    all.push(on("hide", "Hide", moderate(documents.HIDE), "Hidden."));
    return actionRow(all, []);
  }

  async dismiss(comment) {
    const payload = await change(documents.DISMISS, { input: { comment } });
    if (payload.__typename === "CommentRefused") throw new Error(refusal(payload));
  }

  /** An answered one leaves the list; the next one has the focus. */
  done(li, words) {
    const next = li.nextElementSibling ?? li.previousElementSibling;
    li.remove();
    this.count(this.left - 1);
    announce(words);
    (next?.querySelector("article") ?? this.element.querySelector("h1")).focus({ preventScroll: true });
  }
}
