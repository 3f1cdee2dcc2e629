// The comments of a page, in a frame of that page. It says how high it is to the page that greeted
// it, if that page's origin is one that the server names, and to nobody else.

import { App } from "./app.js";
import { DiscussionView } from "./discussion.js";
import { meta } from "./dom.js";
import { become, current } from "./identity.js";

const allowed = new Set([location.origin, ...meta("origins").split(" ").filter(Boolean)]);
const MODES = new Set(["AUTO", "THREADED", "LINEAR"]);
const ORDERS = new Set(["OLDEST", "NEWEST"]);
let host = null;
let told = 0;

function tellHeight() {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  if (!host || height === told) return;
  told = height;
  parent.postMessage({ threadline: 1, type: "height", height }, host);
}

function paint(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

addEventListener("message", (event) => {
  const isHost = event.source === parent && parent !== window && allowed.has(event.origin);
  if (!isHost || event.data?.threadline !== 1) return;
  host = event.origin;
  const { type, theme, token } = event.data;
  if (type === "hello" || type === "theme") paint(theme);
  const isToken = type === "token" || (type === "hello" && token);
  if (isToken && (token ?? null) !== (current()?.token ?? null)) become(token ? { token: String(token) } : null);
  tellHeight();
});

class Frame extends App {
  constructor() {
    super({ isFramed: true });
    const asked = new URLSearchParams(location.search);
    this.asked = asked;
    const view = new DiscussionView(this, { url: asked.get("url") ?? "" });
    if (MODES.has(asked.get("mode"))) view.mode = asked.get("mode");
    if (ORDERS.has(asked.get("order"))) view.order = asked.get("order");
    this.first = view;
  }

  start() {
    new ResizeObserver(tellHeight).observe(document.body);
    addEventListener("click", (event) => this.clicked(event));
    if (parent !== window) parent.postMessage({ threadline: 1, type: "ready" }, "*");
    this.meet().then(() => this.show(this.first));
  }

  /** Links to comments work within the frame; all others open outside of it. */
  clicked(event) {
    const link = event.target.closest?.("a[data-focus]");
    if (!link || event.defaultPrevented || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const item = this.view?.thread?.get(link.dataset.focus);
    if (item && link.classList.contains("answers")) {
      item.article.focus({ preventScroll: true });
      item.article.scrollIntoView({ block: "nearest" });
      return;
    }
    window.open(link.href, "_blank", "noopener");
  }

  openWhole(view) {
    view.focus = null;
    this.show(view);
  }
}

new Frame().start();
