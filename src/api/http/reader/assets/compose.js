// Forms for writing. A text is kept from the first letter until the server says it is written;
// sending it again sends the same key, so that it can never be there twice.

import { announce, button, el } from "./dom.js";
import { change } from "./graphql.js";
import { drafts, newKey } from "./kept.js";
import { failure, refusal } from "./words.js";

let forms = 0;

const FORMATS = [["MARKDOWN", "Markdown"], ["PLAIN", "Plain text"], ["HTML", "HTML"]];

/**
 * A form. `place` names its draft; `send(text, format, key)` gives the payload, `done(comment)`
 * takes what was written, `sending(text)` shows it before that and returns what undoes it.
 */
export class Form {
  constructor({ place, label, submit, text = null, format = "MARKDOWN", send, sending, done, cancel, stale }) {
    Object.assign(this, { place, send, sending, done, cancel, stale });
    const draft = drafts.of(place);
    this.key = draft?.key ?? newKey();
    this.begun = text ?? "";
    this.number = forms += 1;
    this.build(label, submit, draft?.text ?? this.begun, format);
    if (draft && draft.text !== this.begun) this.tell("status", "This is the text that you began earlier.");
  }

  build(label, submit, text, format) {
    const id = `form-${this.number}`;
    this.area = el("textarea", { id, rows: "4", dir: "auto", "aria-describedby": `${id}-said`, required: true });
    this.area.value = text;
    this.format = el("select", { "aria-label": "How the text is written" },
      FORMATS.map(([value, name]) => el("option", { value, selected: value === format }, name)));
    this.said = el("div", { id: `${id}-said`, class: "said" });
    this.submit = el("button", { type: "submit", class: "primary" }, submit);
    this.element = el("form", { class: "write", novalidate: true },
      el("label", { for: id }, label),
      this.area,
      this.said,
      el("div", { class: "form-row" },
        this.submit,
        this.cancel && button("Cancel", () => this.leave(), { class: "plain" }),
        el("span", { class: "grow" }),
        this.format));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
      if (event.key === "Escape" && this.cancel) this.leave();
    });
  }

  typed() {
    this.area.removeAttribute("aria-invalid");
    if (this.area.value.trim() === "") drafts.drop(this.place);
    else drafts.keep(this.place, this.area.value, this.key);
  }

  /** Closes it; what was begun stays kept. */
  leave() {
    this.cancel?.();
  }

  focus() {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(this.area.value.length, this.area.value.length);
    this.element.scrollIntoView({ block: "nearest" });
  }

  tell(role, text, ...more) {
    const box = el("div", { class: `note ${role}`, role }, el("p", {}, text));
    if (more.length > 0) box.append(el("div", { class: "form-row" }, more));
    this.said.replaceChildren(box);
    if (role === "alert") this.area.setAttribute("aria-invalid", "true");
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.submit.disabled = isBusy;
    this.area.readOnly = isBusy;
    this.element.setAttribute("aria-busy", String(isBusy));
  }

  async run() {
    if (this.isBusy) return;
    const text = this.area.value;
    drafts.keep(this.place, text, this.key);
    this.said.replaceChildren();
    this.busy(true);
    const undo = this.sending?.(text);
    try {
      const payload = await this.send(text, this.format.value, this.key);
      if (payload.__typename === "CommentWritten") this.written(payload, undo);
      else this.refused(payload, undo);
    } catch (error) {
      undo?.();
      const again = button("Try again", () => this.run(), { class: "primary" });
      this.busy(false);
      this.tell("alert", `Not sent. ${failure(error)} Your text is kept.`, again);
    }
  }

  written(payload, undo) {
    drafts.drop(this.place);
    this.key = newKey();
    undo?.();
    this.busy(false);
    this.area.value = "";
    announce("Saved.");
    this.done(payload.comment, payload.replayed);
  }

  refused(payload, undo) {
    undo?.();
    this.busy(false);
    const more = [];
    if (payload.reason === "KEY_REUSED") {
      more.push(button("Post this version as well", () => {
        this.key = newKey();
        this.run();
      }, { class: "primary" }));
    }
    if (payload.reason === "STALE" && payload.comment && this.stale) {
      more.push(...this.stale(payload.comment, this));
    }
    this.tell("alert", refusal(payload), ...more);
    this.area.focus({ preventScroll: true });
  }
}

/** A question with two answers, in the place of what it is about. */
export function question(text, yes, no, run, close) {
  const said = el("div", { class: "said" });
  const yesButton = button(yes, async () => {
    yesButton.disabled = true;
    try {
      await run();
    } catch (error) {
      said.replaceChildren(el("div", { class: "note alert", role: "alert" }, el("p", {}, failure(error))));
      yesButton.disabled = false;
      yesButton.focus();
    }
  }, { class: "danger" });
  const box = el("div", { class: "question", role: "group", "aria-label": text },
    el("p", {}, text), said, el("div", { class: "form-row" }, yesButton, button(no, close, { class: "plain" })));
  queueMicrotask(() => yesButton.focus({ preventScroll: true }));
  return box;
}

/** Sends a write and throws a refusal as an error in words. */
export async function must(document_, input) {
  const payload = await change(document_, { input });
  if (payload.__typename === "CommentRefused") {
    const error = new Error(refusal(payload));
    error.refused = payload;
    throw error;
  }
  return payload.comment;
}
