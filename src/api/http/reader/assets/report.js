// Telling the moderators about a comment.

import { show } from "./account.js";
import * as documents from "./documents.js";
import { announce, button, el } from "./dom.js";
import { change } from "./graphql.js";
import { failure, nameOf, refusal } from "./words.js";

export const REASONS = {
  SPAM: "Spam or advertising",
  ABUSE: "Insults or threats",
  OFF_TOPIC: "Off topic",
  ILLEGAL: "Against the law",
  OTHER: "Something else",
};

const TEXT_MAX = 1_000;

/** Asks for the reason; what was typed stays while it cannot be sent. */
export function reportDialog(node) {
  const said = el("div", { class: "said" });
  const text = el("textarea", { rows: "3", dir: "auto", maxlength: String(TEXT_MAX), id: "report-text" });
  const reasons = Object.entries(REASONS).map(([value, name], at) => el("label", { class: "radio" },
    el("input", { type: "radio", name: "reason", value, checked: at === 0 }), name));
  const submit = el("button", { type: "submit", class: "primary" }, "Send report");
  const form = el("form", {},
    el("fieldset", {}, el("legend", {}, "Why?"), reasons),
    el("label", { class: "field" }, el("span", {}, "Anything to add? (optional)"), text),
    said,
    el("div", { class: "form-row" }, submit, button("Cancel", () => dialog.close(), { class: "plain" })));
  const dialog = el("dialog", { "aria-labelledby": "report-title" },
    el("h2", { id: "report-title" }, `Report the comment of ${nameOf(node.author)}`),
    form);
  const tell = (words) => said.replaceChildren(el("div", { class: "note alert", role: "alert" }, el("p", {}, words)));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const reason = new FormData(form).get("reason");
    try {
      const payload = await change(documents.REPORT, { input: { comment: node.id, reason, text: text.value } });
      if (payload.__typename === "CommentRefused") {
        tell(refusal(payload));
      } else {
        announce(payload.repeated ? "You had reported this comment before." : "Reported. Thank you.");
        dialog.close();
      }
    } catch (error) {
      tell(failure(error));
    }
    submit.disabled = false;
  });
  show(dialog);
}
