// Signing in and out: a token, or in development a name of one's own.

import { bdi, button, byId, el } from "./dom.js";
import { become, current, isDevelopment } from "./identity.js";

const ROLES = [["", "Member"], ["moderator", "Moderator"], ["administrator", "Administrator"]];
const ROLE_NAMES = { MODERATOR: "Moderator", ADMINISTRATOR: "Administrator" };

/** Who is signed in, at the top of the page. */
export function drawAccount(viewer, signIn, problem) {
  const place = byId("account");
  place.replaceChildren();
  if (viewer) {
    const role = ROLE_NAMES[viewer.role];
    place.append(el("span", { class: "me" }, bdi(viewer.user.name || "You"), role && el("span", { class: "badge role" }, role)));
    place.append(button("Sign out", () => become(null), { class: "plain" }));
    return;
  }
  if (problem) place.append(el("span", { class: "problem", role: "alert" }, problem));
  if (current()) place.append(button("Sign out", () => become(null), { class: "plain" }));
  place.append(button("Sign in", signIn, { class: "plain" }));
}

function field(label, control, hint) {
  return el("label", { class: "field" }, el("span", {}, label), control, hint && el("small", {}, hint));
}

function developmentForm(done) {
  const user = el("input", { name: "user", required: true, pattern: "[A-Za-z0-9._\\|\\-]{1,64}", autocomplete: "off", value: current()?.devUser ?? "1" });
  const roles = el("select", { name: "roles" }, ROLES.map(([value, text]) => el("option", { value }, text)));
  const form = el("form", { class: "development" },
    el("h3", {}, "Development identity"),
    el("p", {}, "This server lets anybody on this machine name themselves."),
    field("User", user, "A number or a name, such as 1"),
    field("Role", roles),
    el("button", { type: "submit", class: "primary" }, "Use this identity"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    become({ devUser: user.value, devRoles: roles.value });
    done();
  });
  return form;
}

function tokenForm(done) {
  const token = el("textarea", { name: "token", rows: "3", required: true, spellcheck: "false", autocomplete: "off" });
  const form = el("form", {},
    el("h3", {}, "Token"),
    field("Paste the token that your site gave you", token, "It is kept in this browser until you sign out."),
    el("button", { type: "submit", class: isDevelopment ? "plain" : "primary" }, "Use this token"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    become({ token: token.value.trim() });
    done();
  });
  return form;
}

/** Asks who it is. */
export function askWho() {
  const dialog = el("dialog", { "aria-labelledby": "who-title" });
  const close = () => dialog.close();
  dialog.append(
    el("h2", { id: "who-title" }, "Sign in"),
    isDevelopment ? developmentForm(close) : "",
    tokenForm(close),
    el("div", { class: "form-row" }, button("Cancel", close, { class: "plain" })));
  show(dialog);
}

/** Shows a dialog; closed, it is gone and the focus is where it was. */
export function show(dialog) {
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

