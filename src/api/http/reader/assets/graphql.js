// One request to the gateway, and every way in which it may fail, in words for people.

import { meta } from "./dom.js";
import { headers } from "./identity.js";

const TIMEOUT_MS = 15_000;
let readAfter = null;

/** Why there is no answer. `isUnsure`: a write may have been done all the same. */
export class Failure extends Error {
  constructor(message, { code = "", isUnsure = false, status = 0 } = {}) {
    super(message);
    this.code = code;
    this.isUnsure = isUnsure;
    this.status = status;
  }
}

async function send(body) {
  try {
    return await fetch("/graphql", {
      method: "POST",
      credentials: "omit",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "content-type": "application/json",
        accept: "application/graphql-response+json, application/json",
        "x-client-name": "reader",
        "x-client-version": meta("version"),
        ...(readAfter ? { "x-read-after": readAfter } : {}),
        ...headers(),
      },
      body: JSON.stringify(body),
    });
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new Failure(
      late ? "The server did not answer in time." : "The server could not be reached.",
      { code: late ? "LATE" : "NETWORK", isUnsure: true },
    );
  }
}

async function decode(answer) {
  try {
    return await answer.json();
  } catch {
    throw new Failure(`The server answered ${answer.status} without an explanation.`, {
      status: answer.status,
      isUnsure: answer.status >= 500,
    });
  }
}

function failureOf(errors, answer) {
  const [first] = errors;
  const code = first?.extensions?.code ?? "";
  const wait = answer.headers.get("retry-after");
  const message = {
    UNAUTHENTICATED: "Your sign-in is not valid any more. Sign in again.",
    RATE_LIMITED: `Too many requests. Try again ${wait ? `in ${wait} seconds` : "later"}.`,
  }[code] ?? first?.message ?? "The server could not answer.";
  return new Failure(message, { code, status: answer.status, isUnsure: answer.status >= 500 || code === "TIMEOUT" });
}

/**
 * Asks. The `data` of the answer; a part that failed for itself is null there and `partial` names
 * what is missing. Throws `Failure` when there is no data.
 */
export async function ask(query, variables = {}) {
  const answer = await send({ query, variables });
  const { data, errors } = await decode(answer);
  const failed = errors?.length > 0;
  const roots = data ? Object.keys(data) : [];
  const isLost = !data || (failed && roots.every((name) => data[name] === null));
  if (failed && isLost) throw failureOf(errors, answer);
  if (!data) throw new Failure("The server's answer is empty.", { status: answer.status });
  if (failed) Object.defineProperty(data, "partial", { value: failureOf(errors, answer) });
  return data;
}

/** Asks for a write; later reads see it on any instance. */
export async function change(query, variables) {
  const data = await ask(query, variables);
  const [payload] = Object.values(data);
  if (payload?.readAfter) readAfter = payload.readAfter;
  return payload;
}
