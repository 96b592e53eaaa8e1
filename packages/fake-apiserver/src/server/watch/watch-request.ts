import { Failure } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { integerOf, requireListOptions, versionProblem } from "../request/list-options.ts";
import { isTrue } from "../request/route.ts";

/** The parameters of a watch. */
export interface WatchRequest {
  /** Version after which changes are sent. 0: existing objects come first. */
  readonly version: number;

  /** Whether existing objects come first, as ADDED, and a bookmark after them. Undefined: the version decides. */
  readonly sendsInitialEvents: boolean | undefined;

  readonly allowsBookmarks: boolean;

  /** Milliseconds until the server ends the watch. Undefined: as the server likes. */
  readonly timeout: number | undefined;
}

/** @throws Failure for parameters that do not go together */
export function watchRequestOf({ query }: ApiCall): WatchRequest {
  const seconds = integerOf(query, "timeoutSeconds");
  requireListOptions(query, "watch");
  const initial = query.get("sendInitialEvents");
  return {
    version: watchedVersion(query.get("resourceVersion")),
    sendsInitialEvents: initial === null ? undefined : isTrue(initial),
    allowsBookmarks: isTrue(query.get("allowWatchBookmarks")),
    timeout: seconds === 0 ? undefined : Math.max(seconds, 0) * 1_000,
  };
}

/** A watch refuses text that is not a version in another way than a list. */
function watchedVersion(text: string | null): number {
  const message = versionProblem(text ?? "");
  if (message !== undefined) throw new Failure(500, { message });
  return Number(text);
}
