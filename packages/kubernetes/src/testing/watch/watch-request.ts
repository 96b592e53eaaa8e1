import { type Cause, Failure } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { integerOf, parseVersion } from "../request/list-objects.ts";
import { isTrue } from "../request/route.ts";
import { invalidOptions } from "../write/write-options.ts";

/** The parameters of a watch. */
export interface WatchRequest {
  /** Version after which changes are sent. 0: existing objects come first. */
  readonly version: number;

  /** Whether existing objects come first, as ADDED, and a bookmark after them. */
  readonly sendsInitialEvents: boolean;

  readonly allowsBookmarks: boolean;

  /** Milliseconds until the server ends the watch. Undefined: as the server likes. */
  readonly timeout: number | undefined;
}

/** @throws Failure for parameters that do not go together */
export function watchRequestOf({ query }: ApiCall): WatchRequest {
  const match = query.get("resourceVersionMatch");
  const initial = query.get("sendInitialEvents");
  const causes = [...initialCauses(match, initial)];
  if (causes.length > 0) throw invalidOptions("ListOptions", causes);
  const seconds = integerOf(query, "timeoutSeconds");
  return {
    version: watchedVersion(query.get("resourceVersion")),
    sendsInitialEvents: isTrue(initial),
    allowsBookmarks: isTrue(query.get("allowWatchBookmarks")),
    timeout: seconds === 0 ? undefined : Math.max(seconds, 0) * 1_000,
  };
}

/** A watch refuses text that is not a version in another way than a list. */
function watchedVersion(text: string | null): number {
  if (text === null || /^\d{0,15}$/.test(text)) return parseVersion(text);
  throw new Failure(500, { message: `resourceVersion: Invalid value: ${JSON.stringify(text)}` });
}

function* initialCauses(match: string | null, initial: string | null): Generator<Cause> {
  const isMatched = match !== null && match !== "";
  if (isTrue(initial) && match !== "NotOlderThan")
    yield forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  else if (initial === null && isMatched) {
    yield forbidden(
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    );
    if (match !== "NotOlderThan")
      yield {
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
        field: "resourceVersionMatch",
      };
  }
}

function forbidden(text: string): Cause {
  const message = `Forbidden: ${text}`;
  return { reason: "FieldValueForbidden", message, field: "resourceVersionMatch" };
}
