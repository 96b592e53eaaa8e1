import { findError } from "@holdfast/clock";
import { isBodyTooLongError } from "../transport/read-body.ts";
import { ApiError } from "./api-error.ts";
import type { ApiRequest } from "./api-request.ts";

/** A list to be read page by page. */
export interface PagedList {
  /** Path of the collection. */
  readonly path: string;

  /** Query without `limit` and `continue`. */
  readonly query: NonNullable<ApiRequest["query"]>;

  /** Objects in a page. */
  readonly pageSize: number;

  /** Accepted type of the responses. Default: `application/json`. */
  readonly accept?: string | undefined;
}

/** A page of a list. */
export interface ListPage {
  /** The objects, as they came. */
  readonly items: readonly object[];

  /** Version of the list. Empty if it has none, as lists of metrics. */
  readonly resourceVersion: string;

  /**
   * Whether the list has begun again with this page: the pages before it are of a version that the server has
   * forgotten.
   */
  readonly isRestart: boolean;
}

/**
 * Reads a list page by page; each page is asked for when it is wanted.
 *
 * | Response | Reaction |
 * | --- | --- |
 * | 410 to a page after the first | the list begins again, in one page without a limit; from the second time on in pages. At most five times |
 * | a page above 64 MiB | is asked for with half the limit, down to one object. The one page without a limit: the list begins again, in pages |
 *
 * @param send - sends a request. Its other errors end the list
 * @throws TypeError if the server repeats a continue token: the list would have no end
 */
export async function* listPages(
  send: (request: ApiRequest) => Promise<object>,
  { path, query, pageSize, accept }: PagedList,
): AsyncGenerator<ListPage, void, undefined> {
  let request: PageRequest = { limit: pageSize, size: pageSize, restarts: 0, isRestart: false };
  const tokens = new Set<string>();
  for (;;) {
    const { limit, token, isRestart } = request;
    if (isRestart) tokens.clear();
    const page = { ...query, limit, continue: token };
    let response: object;
    try {
      response = await send({ method: "GET", path, query: page, accept, gzip: true });
    } catch (error) {
      request = otherRequest(request, error);
      continue;
    }
    const { next, ...rest } = readPage(response, path);
    yield { ...rest, isRestart };
    if (next === "") return;
    if (tokens.has(next)) throw new TypeError(`the list GET ${path} repeats a continue token`);
    tokens.add(next);
    request = { ...request, token: next, isRestart: false };
  }
}

/** Which page is asked for. */
interface PageRequest {
  /** Undefined for all objects. */
  readonly limit: number | undefined;

  /** Objects in a page that is not too long. */
  readonly size: number;

  /** Undefined for the first page. */
  readonly token?: string | undefined;

  readonly restarts: number;

  readonly isRestart: boolean;
}

/** How often a list begins again: a server that always forgets the version would have it read for ever. */
const MAX_RESTARTS = 5;

/** @throws `error`, if no other request helps */
function otherRequest(request: PageRequest, error: unknown): PageRequest {
  const { limit, size, token, restarts } = request;
  const again = { size, restarts, token: undefined, isRestart: true };
  if (isBodyTooLongError(error)) {
    if (limit === undefined) return { ...again, limit: size };
    if (limit === 1) throw error;
    const half = Math.ceil(limit / 2);
    return { ...request, limit: half, size: half };
  }
  const hasExpired = isGone(error) && token !== undefined && limit !== undefined;
  if (!hasExpired || restarts === MAX_RESTARTS) throw error;
  // One page cannot expire. If it is too long, the pages may: another whole list would be too long again.
  return { ...again, restarts: restarts + 1, limit: restarts === 0 ? undefined : size };
}

/**
 * Reads the response to a list. An empty list of a built-in resource may have `null`.
 *
 * @returns the page, with the token of the next one: empty on the last page
 * @throws TypeError if the response is not a list, which must not pass for an empty one
 */
export function readPage(
  response: object,
  path: string,
): Omit<ListPage, "isRestart"> & { readonly next: string } {
  const { items, metadata } = response as { items?: unknown; metadata?: ListMeta | null };
  const { resourceVersion = "", continue: next = "" } = metadata ?? {};
  const isList = items === null || Array.isArray(items);
  if (!isList || typeof resourceVersion !== "string" || typeof next !== "string")
    throw new TypeError(`the response to GET ${path} must be a list, got none`);
  return { items: (items ?? []) as object[], resourceVersion, next };
}

interface ListMeta {
  readonly resourceVersion?: unknown;
  readonly continue?: unknown;
}

function isGone(error: unknown): boolean {
  return findError(error, ApiError)?.status === 410;
}
