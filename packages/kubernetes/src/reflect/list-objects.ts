import type { Clock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/clock/internal";
import { readObject, type ServerObject } from "../cache/server-object.ts";
import { isApiError } from "../client/api-error.ts";
import { type ApiTarget, requestJson } from "../client/api-request.ts";
import { BodyTooLongError } from "../transport/read-body.ts";
import { type Question, requestFor } from "./question.ts";

/** Options for {@link listObjects}. */
export interface ListOptions {
  readonly target: ApiTarget;
  readonly clock: Clock;
  /** Objects a page. */
  readonly pageSize: number;
  /** Called before the first page is asked for, and again if the list starts over. */
  readonly onBegin: () => void;
  /** Receives each object. */
  readonly onObject: (object: ServerObject) => void;
}

/** A page of a list. */
interface Page {
  readonly items: readonly unknown[];
  readonly version: string;
  /** Token of the next page. Empty on the last one. */
  readonly next: string;
}

/**
 * Lists the objects page by page. Every page is of the same, current state of the server.
 *
 * A page that is too long is asked for again with half the limit. If the server has forgotten the state that
 * the pages are of (410), the list starts over without a limit.
 *
 * @returns the version of the list
 */
export async function listObjects(
  question: Question,
  options: ListOptions,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await listPages(question, options, signal);
  } catch (error) {
    if (!(error instanceof LostPagesError)) throw error;
    return await listPages(question, { ...options, pageSize: Number.POSITIVE_INFINITY }, signal);
  }
}

/** The version of the server's current state, by a list of one object. */
export async function currentVersion(
  question: Question,
  target: ApiTarget,
  signal: AbortSignal,
): Promise<string> {
  const { version } = await getPage(question, target, { limit: 1, token: "" }, signal);
  return version;
}

/** A 410 for a page that is not the first. */
class LostPagesError extends Error {}

async function listPages(
  question: Question,
  { target, clock, pageSize, onBegin, onObject }: ListOptions,
  signal: AbortSignal,
): Promise<string> {
  let limit = pageSize;
  let token = "";
  let version: string | undefined;
  onBegin();
  do {
    const page = await getPage(question, target, { limit, token }, signal).catch(
      (error: unknown) => {
        if (token !== "" && isApiError(error) && error.statusCode === 410)
          throw new LostPagesError("410", { cause: error });
        if (
          !(error instanceof BodyTooLongError) ||
          !(limit > 1 && limit < Number.POSITIVE_INFINITY)
        )
          throw error;
        limit = Math.ceil(limit / 2);
        return undefined;
      },
    );
    if (page === undefined) continue;
    for (const item of page.items) onObject(readObject(item, question.resource.kind));
    version ??= page.version;
    token = page.next;
    await yieldTurn(clock);
  } while (version === undefined || token !== "");
  return version;
}

async function getPage(
  question: Question,
  target: ApiTarget,
  { limit, token }: { limit: number; token: string },
  signal: AbortSignal,
): Promise<Page> {
  const request = requestFor(question, "list", {
    limit: limit === Number.POSITIVE_INFINITY ? undefined : limit,
    continue: token === "" ? undefined : token,
  });
  const answer = await requestJson(target, { ...request, gzip: true }, signal);
  return readPage(answer, request.path);
}

function readPage(answer: object, path: string): Page {
  const { items, metadata = {} } = answer as {
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  };
  const { resourceVersion: version, continue: next = "" } = metadata;
  // An empty list of a built-in resource may have `null`.
  if (!isText(version) || !isText(next, 0) || !(Array.isArray(items) || items === null))
    throw new TypeError(
      `the list GET ${path} must have items and metadata.resourceVersion, got none`,
    );
  return { items: (items ?? []) as unknown[], version, next };
}

function isText(value: unknown, minimum = 1): value is string {
  return typeof value === "string" && value.length >= minimum;
}
