// The page: which view an address means, going from one to the other and back without loss.

import { App } from "./app.js";
import { DiscussionView } from "./discussion.js";
import { byId, el } from "./dom.js";
import { help, listen } from "./keys.js";
import { ListView } from "./list.js";
import { MineView } from "./mine.js";
import { QueueView } from "./queue.js";

const KEPT_MAX = 6;

class Page extends App {
  constructor() {
    super();
    this.kept = new Map();
    this.at = history.state?.at ?? 0;
    this.first = this.at;
  }

  viewOf(url) {
    const [, kind, id] = url.pathname.split("/");
    if (kind === "d" && id) {
      const focus = new URLSearchParams(url.hash.slice(1)).get("c");
      return new DiscussionView(this, { id: decodeURIComponent(id) }, focus);
    }
    if (kind === "mine") return new MineView(this);
    if (kind === "moderation") return new QueueView(this, new URLSearchParams(url.hash.slice(1)).get("d"));
    return new ListView(this);
  }

  start() {
    history.scrollRestoration = "manual";
    history.replaceState({ at: this.at }, "");
    addEventListener("popstate", (event) => this.moved(event.state?.at));
    addEventListener("click", (event) => this.clicked(event));
    listen();
    byId("keys").addEventListener("click", help);
    this.meet().then(() => this.show(this.viewOf(new URL(location.href))));
  }

  clicked(event) {
    const link = event.target.closest?.("a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || link.target || event.defaultPrevented) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || link.classList.contains("skip")) return;
    event.preventDefault();
    const shown = link.dataset.focus && this.view?.thread?.get(link.dataset.focus);
    if (shown && link.classList.contains("answers")) {
      this.point(shown);
      return;
    }
    this.go(url);
  }

  /** Shows a comment that is on the page already. */
  point(item) {
    for (const other of document.querySelectorAll(".comment.target")) other.classList.remove("target");
    item.article.classList.add("target");
    item.article.focus({ preventScroll: true });
    item.article.scrollIntoView({ block: "center" });
  }

  keep() {
    if (!this.view) return;
    this.kept.delete(this.at);
    this.kept.set(this.at, { view: this.view, y: scrollY, href: this.href });
    if (this.kept.size > KEPT_MAX) {
      const oldest = this.kept.keys().next().value;
      this.kept.get(oldest).view.close?.();
      this.kept.delete(oldest);
    }
  }

  async go(url) {
    this.keep();
    this.at += 1;
    history.pushState({ at: this.at }, "", url);
    await this.openHere();
  }

  async openHere() {
    const view = this.viewOf(new URL(location.href));
    this.view?.rest?.();
    this.view = view;
    await this.show(view);
    if (!view.focus) {
      scrollTo({ top: 0, behavior: "instant" });
      this.main.querySelector("h1")?.focus({ preventScroll: true });
    }
  }

  /** An entry without a number is new: somebody changed the address by hand. */
  async moved(at) {
    if (at !== undefined) {
      await this.wentTo(at);
      return;
    }
    this.keep();
    this.at += 1;
    history.replaceState({ at: this.at }, "");
    await this.openHere();
  }

  /** Back or forward: what was there is there again, where it was. */
  async wentTo(at) {
    this.keep();
    this.at = at;
    const kept = this.kept.get(at);
    if (!kept) {
      await this.openHere();
      return;
    }
    this.view?.rest?.();
    this.view = kept.view;
    this.main.replaceChildren(kept.view.element);
    document.title = kept.view.title ? `${kept.view.title} · threadline` : "threadline";
    kept.view.wake?.();
    scrollTo({ top: kept.y, behavior: "instant" });
  }

  canGoBack() {
    return this.at > this.first;
  }

  openWhole(view) {
    this.go(new URL(`/d/${encodeURIComponent(view.discussion.id)}`, location.origin));
  }

  /** Where one can go, as far as this reader may. */
  met() {
    const links = [["/", "Discussions"]];
    const unread = this.viewer?.replies?.unreadCount ?? 0;
    if (this.viewer) links.push(["/mine", unread > 0 ? `You (${unread} new)` : "You"]);
    if (this.moderates) links.push(["/moderation", "Moderation"]);
    const nav = byId("places");
    nav.replaceChildren(...links.map(([href, text]) => el("a", { href }, text)));
  }
}

new Page().start();
