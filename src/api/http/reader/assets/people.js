// What one may do about the person behind a comment: no longer see them, or keep them from writing.

import { show } from "./account.js";
import { act } from "./comment.js";
import { tellIn } from "./actions.js";
import * as documents from "./person_documents.js";
import { announce, button, el } from "./dom.js";
import { change } from "./graphql.js";
import { failure, nameOf } from "./words.js";

const DAY_MS = 86_400_000;
const TIMES = [["1", "One day"], ["7", "One week"], ["30", "30 days"], ["", "Without an end"]];
const REASON_MAX = 300;

/** A change to a person; a refusal is an error in its own words. */
export async function changePerson(document_, variables) {
  const payload = await change(document_, variables);
  if (payload.__typename === "UserRefused") throw new Error(payload.message);
  return payload.user;
}

async function block(view, node, item) {
  try {
    await changePerson(documents.BLOCK, { user: node.author.id });
    announce("Blocked. What they wrote is no longer shown to you.");
    await view.events.resync();
  } catch (error) {
    tellIn(item(), failure(error));
  }
}

/** Asks for how long, and why. */
function banDialog(view, node) {
  const said = el("div", { class: "said" });
  const until = el("select", { name: "until" }, TIMES.map(([value, text]) => el("option", { value }, text)));
  const reason = el("input", { name: "reason", dir: "auto", maxlength: String(REASON_MAX) });
  const submit = el("button", { type: "submit", class: "danger" }, "Ban");
  const form = el("form", {},
    el("p", {}, "They can still read, delete what they wrote, and block people."),
    el("label", { class: "field" }, el("span", {}, "For how long?"), until),
    el("label", { class: "field" }, el("span", {}, "Why? They can read this."), reason),
    said,
    el("div", { class: "form-row" }, submit, button("Cancel", () => dialog.close(), { class: "plain" })));
  const dialog = el("dialog", { "aria-labelledby": "ban-title" },
    el("h2", { id: "ban-title" }, `Keep ${nameOf(node.author)} from writing`), form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const end = until.value ? new Date(Date.now() + Number(until.value) * DAY_MS).toISOString() : null;
    try {
      await changePerson(documents.BAN, { input: { user: node.author.id, until: end, reason: reason.value } });
      announce("Banned.");
      dialog.close();
    } catch (error) {
      said.replaceChildren(el("div", { class: "note alert", role: "alert" }, el("p", {}, failure(error))));
    }
    submit.disabled = false;
  });
  show(dialog);
}

/** The buttons about the author of somebody else's comment. */
export function peopleActs(view, node, item) {
  const { viewer } = view.app;
  if (!viewer || !node.author || node.author.id === viewer.user.id) return [];
  const all = [act("block", "Block this person", () => block(view, node, item))];
  if (view.app.moderates) all.push(act("ban", "Ban this person", () => banDialog(view, node)));
  return all;
}

/** Tells the server how far this reader has seen: what is younger is new to them next time. */
export function sawAll(view) {
  if (!view.app.viewer) return;
  const shown = [...view.thread.items.values()].filter((item) => !item.node.isProvisional);
  const last = shown.reduce((a, b) => (a && Date.parse(a.node.createdAt) >= Date.parse(b.node.createdAt) ? a : b), null);
  if (!last || last.id === view.seen) return;
  view.seen = last.id;
  change(documents.SEEN, { discussion: view.discussion.id, upTo: last.id }).catch(() => { view.seen = null; });
}
