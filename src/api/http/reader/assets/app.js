// The page around a view: who reads, what is shown, and how one gets back to it.

import { askWho, drawAccount } from "./account.js";
import { button, byId, el } from "./dom.js";
import * as documents from "./documents.js";
import { ask } from "./graphql.js";
import { onChange } from "./identity.js";
import { failure } from "./words.js";

export class App {
  constructor({ isFramed = false } = {}) {
    this.isFramed = isFramed;
    this.viewer = null;
    this.view = null;
    this.main = byId("main");
    onChange(() => this.changeViewer());
  }

  /** Asks who reads. Who cannot be told reads as nobody, and is told so. */
  async meet() {
    let problem = null;
    try {
      this.viewer = (await ask(documents.VIEWER)).viewer;
    } catch (error) {
      this.viewer = null;
      problem = error.code === "UNAUTHENTICATED" ? "Your sign-in is not valid any more." : failure(error);
    }
    drawAccount(this.viewer, () => this.signIn(), problem);
    this.met?.();
  }

  async changeViewer() {
    await this.meet();
    if (this.view) await this.show(this.view);
  }

  signIn() {
    askWho();
  }

  get moderates() {
    return this.viewer?.role === "MODERATOR" || this.viewer?.role === "ADMINISTRATOR";
  }

  /** Opens a view and shows it; what went wrong is told in its place, with a way to try again. */
  async show(view) {
    if (this.view !== view) this.view?.close?.();
    this.view = view;
    this.main.setAttribute("aria-busy", "true");
    try {
      await view.open();
      if (this.view !== view) return;
      this.main.replaceChildren(view.element);
      if (!this.isFramed) document.title = view.title ? `${view.title} · threadline` : "threadline";
      view.shown?.();
    } catch (error) {
      if (this.view === view) this.main.replaceChildren(this.trouble(view, error));
    } finally {
      this.main.removeAttribute("aria-busy");
    }
  }

  trouble(view, error) {
    return el("div", { class: "trouble" },
      this.isFramed ? null : el("h1", {}, "This could not be shown"),
      el("p", { role: "alert" }, failure(error)),
      el("div", { class: "form-row" },
        button("Try again", () => this.show(view), { class: "primary" }),
        this.isFramed ? null : el("a", { href: "/" }, "All discussions")));
  }

  canGoBack() {
    return false;
  }
}
