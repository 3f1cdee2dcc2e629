// Elements out of plain values. Text is only ever text: the one way for markup is `sanitised`,
// which takes the HTML that the server has cleaned.

const policy = globalThis.trustedTypes?.createPolicy("threadline", { createHTML: (html) => html });

/** Makes an element. `on` holds listeners, `data` becomes data-…; null and false leave out. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(node.dataset, value);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** A button with a name and what it does. */
export function button(text, act, props = {}) {
  return el("button", { type: "button", ...props, on: { click: act } }, text);
}

/** A person's name or another text of unknown direction, kept apart from what is around it. */
export const bdi = (text) => el("bdi", {}, text);

/** Shows HTML from the server in `node`. Links leave the page that shows them, also in a frame. */
export function sanitised(node, html) {
  node.innerHTML = policy ? policy.createHTML(html) : html;
  for (const link of node.querySelectorAll("a[href]")) link.target = "_blank";
  for (const wide of node.querySelectorAll("pre, table")) {
    wide.tabIndex = 0;
    if (wide.tagName === "TABLE") wrap(wide);
  }
  return node;
}

// A table scrolls within its comment, so that it never widens the page.
function wrap(table) {
  const box = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" });
  table.removeAttribute("tabindex");
  table.replaceWith(box);
  box.append(table);
}

let clearing = 0;
/** Tells a screen reader, politely. */
export function announce(text) {
  const place = byId("polite");
  clearTimeout(clearing);
  place.textContent = text;
  clearing = setTimeout(() => { place.textContent = ""; }, 4000);
}

/** Runs `change` without moving `anchor` on the screen. */
export function keepPlace(anchor, change) {
  const before = anchor?.isConnected ? anchor.getBoundingClientRect().top : null;
  const result = change();
  if (before !== null && anchor.isConnected) {
    const moved = anchor.getBoundingClientRect().top - before;
    if (Math.abs(moved) > 1) window.scrollBy({ top: moved, behavior: "instant" });
  }
  return result;
}

/** Focuses without a jump, then scrolls only as far as needed. */
export function focusOn(node, block = "nearest") {
  if (!node) return;
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block, behavior: calm() ? "instant" : "smooth" });
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** What the server says about itself in the page. */
export const meta = (name) =>
  document.querySelector(`meta[name="threadline-${name}"]`)?.getAttribute("content") ?? "";
