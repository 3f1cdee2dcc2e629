// What the browser keeps for the page. Where storage is closed (private windows, frames of other
// sites) it is kept until the page is left, and nothing else changes.

const memory = new Map();

function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

export function read(key) {
  const name = "threadline." + key;
  try {
    const text = storage()?.getItem(name) ?? null;
    if (text !== null) return JSON.parse(text);
  } catch {
    // Unreadable is as if absent.
  }
  return memory.get(name) ?? null;
}

export function write(key, value) {
  const name = "threadline." + key;
  memory.set(name, value);
  try {
    storage()?.setItem(name, JSON.stringify(value));
  } catch {
    // Full or closed: memory has it.
  }
}

export function forget(key) {
  const name = "threadline." + key;
  memory.delete(name);
  try {
    storage()?.removeItem(name);
  } catch {
    // Closed: memory had it.
  }
}

const DRAFT_DAYS = 14;

/** A text that was begun, with the key under which it is sent: {text, key, at}. */
export const drafts = {
  of(place) {
    const draft = read("draft." + place);
    const isOld = draft && Date.now() - draft.at > DRAFT_DAYS * 86_400_000;
    if (isOld) forget("draft." + place);
    return isOld ? null : draft;
  },
  keep(place, text, key) {
    write("draft." + place, { text, key, at: Date.now() });
  },
  drop(place) {
    forget("draft." + place);
  },
};

/** A new posting key. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
