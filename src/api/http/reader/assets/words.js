// The page's words: reasons, refusals, times, numbers.

const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const NUMBER = new Intl.NumberFormat();
const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [7, "day"]];

export const whole = (time) => WHOLE.format(new Date(time));
export const number = (value) => NUMBER.format(value);

/** "3 hours ago" within a week, then the date. */
export function ago(time) {
  let value = (new Date(time).getTime() - Date.now()) / 1000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(value) < size) {
      return unit === "second" ? "just now" : AGO.format(Math.trunc(value), unit);
    }
    value /= size;
  }
  return DAY.format(new Date(time));
}

export const count = (value, one, many = one + "s") => `${number(value)} ${value === 1 ? one : many}`;

const WHY = {
  KILLED: "threads are switched off for everybody at the moment",
  DISABLED: "threads are not switched on here",
  CLIENT: "this version of the page may not show threads yet",
  PREREQUISITE: "something that threads need is switched off",
  DENIED: "your account is on the list of those who keep the plain list",
  INDEX: "the threads of this discussion are still being put together",
  REQUESTED: "you chose it",
  CURSOR: "you are reading on from where you were",
  TRANSLATED: "threads were switched off while you were reading",
  ALLOWED: "your account is on the list of those who get threads first",
  RULE: "a rule of the rollout says so for you",
  ROLLOUT: "your place in the rollout says so",
  DEFAULT: "that is the setting for everybody",
};

/** How a page is shown and why, in a sentence. */
export function modeSentence(mode, reason) {
  const how = mode === "THREADED" ? "Shown as threads" : "Shown by date";
  return `${how}: ${WHY[reason] ?? reason.toLowerCase()}.`;
}

const REFUSED = {
  BODY_EMPTY: () => "Write something first: this text has nothing that people could see.",
  BODY_TOO_LONG: (it) => `This text is too long: ${number(it.actual)} of at most ${number(it.limit)} characters. Nothing was cut; shorten it and send it again.`,
  DISCUSSION_NOT_FOUND: () => "There is no such discussion here, and it cannot be opened by a comment.",
  DISCUSSION_CLOSED: () => "This discussion has been closed, so it takes no new comments. Your text is kept here.",
  DISCUSSION_FULL: (it) => `This discussion holds as many comments as it may${it.limit ? ` (${number(it.limit)})` : ""}.`,
  PARENT_NOT_FOUND: () => "The comment that you answer is not in this discussion.",
  PARENT_GONE: () => "The comment that you answer has been removed meanwhile. You can post your text as a comment of its own.",
  TOO_DEEP: () => "This thread is as deep as it may be. Answer a comment further up.",
  KEY_REUSED: () => "An earlier version of this text has already arrived.",
  COMMENT_NOT_FOUND: () => "This comment does not exist any more.",
  NOT_YOURS: () => "Somebody else wrote this comment.",
  STALE: () => "This comment has changed since you opened it.",
  ALREADY_DELETED: () => "This comment has been deleted, and that is final.",
  WORD_NOT_ALLOWED: () => "This text contains a word that is not allowed here.",
  SPAM: () => "This text was taken for spam and not posted.",
  OWN_COMMENT: () => "This comment is your own.",
  NOT_PUBLIC: () => "This comment is not public, so it cannot be reported or pinned.",
  BANNED: (it) => it.message,
};

/** Why a write was refused, for the person who wrote. */
export function refusal(refused) {
  const words = REFUSED[refused.code] ?? REFUSED[refused.reason];
  return words ? words(refused) : refused.message;
}

/** A failed write, honestly. */
export function failure(error) {
  const sure = error.isUnsure ? " It is not known whether it was saved; trying again is safe." : "";
  return error.message + sure;
}

/** What to call somebody. */
export const nameOf = (author) => author?.name || "Somebody";

const GONE = {
  DELETED: "This comment was deleted.",
  HIDDEN: "This comment was hidden by a moderator.",
  BLOCKED: "You blocked the person who wrote this.",
};
export const gone = (state) => GONE[state] ?? "This comment cannot be shown.";
