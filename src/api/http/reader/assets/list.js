// The list of discussions, newest first, in pages.

import * as documents from "./documents.js";
import { announce, bdi, button, el, focusOn } from "./dom.js";
import { ask } from "./graphql.js";
import { ago, count, failure, whole } from "./words.js";

const PAGE = 20;

export class ListView {
  constructor(app) {
    this.app = app;
    this.title = "Discussions";
    this.list = el("ul", { class: "discussions" });
    this.below = el("div", { class: "bar-more" });
    this.element = el("div", {}, el("h1", { tabindex: "-1" }, "Discussions"), this.list, this.below);
  }

  async open() {
    this.list.replaceChildren();
    this.end = null;
    await this.load();
    if (this.list.childElementCount === 0) {
      this.below.replaceChildren(el("p", { class: "quiet" }, "There are no discussions yet. The first comment on a page opens one."));
    }
  }

  async load() {
    const { discussions } = await ask(documents.LIST, { first: PAGE, after: this.end });
    const rows = discussions.edges.map(({ node }) => row(node));
    this.list.append(...rows);
    this.end = discussions.pageInfo.endCursor;
    this.below.replaceChildren();
    if (discussions.pageInfo.hasNextPage) {
      this.below.append(button("Show more discussions", (event) => this.more(event.currentTarget), { class: "wide-button" }));
    }
    return rows;
  }

  async more(from) {
    from.disabled = true;
    try {
      const [first, ...others] = await this.load();
      announce(count(others.length + 1, "more discussion") + " loaded.");
      focusOn(first?.querySelector("a"));
    } catch (error) {
      from.disabled = false;
      this.below.append(el("p", { class: "note alert", role: "alert" }, failure(error)));
    }
  }
}

function row(node) {
  const subject = node.url ? node.url.replace(/^(https?:)?\/\//u, "") : node.entity ? `${node.entity.type} ${node.entity.id}` : "";
  return el("li", {},
    el("a", { class: "title", href: `/d/${encodeURIComponent(node.id)}` }, bdi(node.title || subject || "Untitled")),
    el("p", { class: "facts" },
      el("span", { class: "total" }, count(node.counts.visible, "comment")),
      el("time", { datetime: node.createdAt, title: whole(node.createdAt) }, ago(node.createdAt)),
      node.state === "CLOSED" && el("span", { class: "badge closed" }, "Closed"),
      subject && el("span", { class: "subject" }, bdi(subject))));
}
