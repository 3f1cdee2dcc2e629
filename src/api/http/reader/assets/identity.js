// Who asks: a token that the host page or the reader gave, or in development a name of one's own.

import { meta } from "./dom.js";
import { forget, read, write } from "./kept.js";

export const isDevelopment = meta("development") === "yes";
const listeners = new Set();

/** {token} or {devUser, devRoles}, or null for nobody. */
export function current() {
  const kept = read("identity");
  if (!kept) return null;
  if (kept.token) return { token: kept.token };
  if (kept.devUser && isDevelopment) return kept;
  return null;
}

export function become(identity) {
  if (identity) write("identity", identity);
  else forget("identity");
  for (const listener of listeners) listener();
}

export function onChange(listener) {
  listeners.add(listener);
}

// Another tab signed in or out.
addEventListener("storage", (event) => {
  if (event.key === "threadline.identity") for (const listener of listeners) listener();
});

export function headers() {
  const who = current();
  if (!who) return {};
  if (who.token) return { authorization: "Bearer " + who.token };
  const all = { "x-dev-user": who.devUser };
  if (who.devRoles) all["x-dev-roles"] = who.devRoles;
  return all;
}

/** The same, for the first message on a socket. */
export function socketPayload() {
  const who = current();
  const client = { clientName: "reader", clientVersion: meta("version") };
  if (!who) return client;
  if (who.token) return { ...client, authorization: "Bearer " + who.token };
  return { ...client, devUser: who.devUser, ...(who.devRoles ? { devRoles: who.devRoles } : {}) };
}
