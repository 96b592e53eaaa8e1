import { messageOf } from "@holdfast/kit";
import { defined, isObject, type JsonObject, parseJson } from "../../object/json.ts";
import { badRequest, expired, Failure } from "../failure.ts";
import { asServed, requireVersion } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { ApiState } from "../state/api-state.ts";
import type { ObjectStore, View } from "../state/object-store.ts";
import type { ApiCall } from "./api-call.ts";
import { integerOf, requireListOptions, versionProblem } from "./list-options.ts";
import { representationOf } from "./representation.ts";
import { type Selector, selectorOf, selectsAll } from "./selector.ts";

/** Milliseconds for which a list waits for a version that is yet to come, or that cannot be converted. */
const LIST_DELAY = 3_000;

const TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** One page of a list. */
export interface ListPage {
  readonly objects: readonly JsonObject[];

  /** The metadata of the list. */
  readonly metadata: JsonObject;
}

/** The body of the response to a list. */
export function listObjects(state: ApiState, call: ApiCall, now: () => number): JsonObject {
  const { list } = representationOf(call, now, true);
  const { objects, metadata } = listPage(state, call);
  return list(objects, metadata);
}

/** The page of a list that a call wants. */
export function listPage(state: ApiState, call: ApiCall): ListPage {
  const { served, query } = call;
  const store = state.store(served.storeKey);
  const limit = limitOf(query);
  integerOf(query, "timeoutSeconds");
  requireListOptions(query, "list");
  if (limit === Number.POSITIVE_INFINITY) requireCache(state, call);
  const token = query.get("continue");
  const from = token ? parseToken(token) : undefined;
  const version = versionOf(state, store, call, from);
  const view = inNamespace(store.viewAt(version), call.namespace);
  const page = pageOf(view, { selector: selectorOf(call), limit, after: from?.after ?? "" });
  const isCut = page.next < view.keys.length;
  const last = view.keys[page.next - 1] ?? "";
  const metadata = defined({
    resourceVersion: String(version),
    continue: isCut ? formatToken({ version, after: last }) : undefined,
    remainingItemCount: isCut && selectsAll(call) ? view.keys.length - page.next : undefined,
  });
  return { objects: page.objects.map((object) => listed(served, object)), metadata };
}

/**
 * Lists without pages, and watches, are those of a cache, which a server cannot fill while one object of the resource is
 * stored in a version that is gone.
 *
 * @throws Failure that asks to come again
 */
export function requireCache(state: ApiState, { served }: ApiCall): void {
  const { apiVersion, kind, storeKey, versions } = served;
  if (versions === undefined) return;
  try {
    for (const object of state.store(storeKey).objects.values()) requireVersion(served, object);
  } catch (error) {
    const message = `storage is (re)initializing: failed to list ${apiVersion}, Kind=${kind}: ${messageOf(error)}`;
    const details = { retryAfterSeconds: 1 };
    throw new Failure(429, { reason: "TooManyRequests", message, details });
  }
}

/** @throws Failure for an object that does not convert, after the wait for the cache of its version */
function listed(served: ServedResource, object: JsonObject): JsonObject {
  requireVersion(served, object);
  try {
    return asServed(served, object);
  } catch (error) {
    if (error instanceof Failure) error.delay ??= LIST_DELAY;
    throw error;
  }
}

/**
 * Checks the version that a read of one object wants at least.
 *
 * @throws Failure for a version of the future, and for text that is none
 */
export function requireKnownVersion(query: URLSearchParams, version: number): void {
  const text = query.get("resourceVersion") ?? "";
  const message = versionProblem(text);
  if (message !== undefined) throw new Failure(500, { message });
  if (Number(text) > version) throw tooLarge(Number(text), version);
}

/** Reads a version of a query. Empty and "0" are 0. */
function parseVersion(text: string | null): number {
  const problem = versionProblem(text ?? "");
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`);
  return Number(text);
}

function limitOf(query: URLSearchParams): number {
  const limit = integerOf(query, "limit");
  // A list from the cache of the server has no pages.
  const isCached = query.get("resourceVersion") === "0";
  return limit > 0 && !isCached ? limit : Number.POSITIVE_INFINITY;
}

function versionOf(
  state: ApiState,
  store: ObjectStore,
  { query }: ApiCall,
  token: PageToken | undefined,
): number {
  const wanted = parseVersion(query.get("resourceVersion"));
  if (token !== undefined) {
    if (wanted > 0)
      throw badRequest("specifying resource version is not allowed when using continue");
    return versionOfToken(state, store, token);
  }
  if (wanted > state.version) throw tooLarge(wanted, state.version);
  if (!isExact(query)) return state.version;
  if (wanted < store.floor) throw expired(`The resourceVersion for the provided list is too old.`);
  return wanted;
}

/** Whether a list shows the version that it names: a page does, unless the query says otherwise. */
function isExact(query: URLSearchParams): boolean {
  const match = query.get("resourceVersionMatch");
  if (match) return match === "Exact";
  return Number(query.get("resourceVersion")) > 0 && Number(query.get("limit")) > 0;
}

function versionOfToken(
  state: ApiState,
  store: ObjectStore,
  { version, after }: PageToken,
): number {
  if (version === -1) return state.version;
  if (version >= store.floor && version <= state.version) return version;
  throw expired(TOO_OLD, { continue: formatToken({ version: -1, after }) });
}

/** A version that the server has not seen yet. A real one waits for it. */
function tooLarge(wanted: number, version: number): Failure {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${version}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const details = { causes, retryAfterSeconds: 1 };
  return new Failure(504, { reason: "Timeout", message, details, delay: LIST_DELAY });
}

interface PageOptions {
  readonly selector: Selector;
  readonly limit: number;
  readonly after: string;
}

/** At most `limit` selected objects, and the index of the first key that was not looked at. */
function pageOf({ keys, objects }: View, { selector, limit, after }: PageOptions) {
  const page: JsonObject[] = [];
  let next = after === "" ? 0 : firstAfter(keys, after);
  for (; next < keys.length && page.length < limit; next++) {
    const object = objects.get(keys[next] as string) as JsonObject;
    if (selector(object)) page.push(object);
  }
  return { objects: page, next };
}

function firstAfter(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The keys of one namespace, or all. */
function inNamespace(view: View, namespace: string | undefined): View {
  if (namespace === undefined) return view;
  return { ...view, keys: view.keys.filter((key) => key.startsWith(`${namespace}/`)) };
}

/** Where the next page of a list begins. */
interface PageToken {
  /** Version that all pages show. -1 for the latest: an inconsistent list. */
  readonly version: number;

  /** Last key of the page before. */
  readonly after: string;
}

/** The token as clients get it: text that means nothing to them. */
function formatToken({ version, after }: PageToken): string {
  const text = JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: after });
  return Buffer.from(text, "utf8").toString("base64url");
}

/** @throws Failure for text that is not a token */
function parseToken(text: string): PageToken {
  const invalid = (problem: string): Failure =>
    badRequest(`invalid continue token: continue key is not valid: ${problem}`);
  const bad = text.search(/[^-\w]/);
  if (bad >= 0 || text.length % 4 === 1)
    throw invalid(`illegal base64 data at input byte ${Math.max(bad, 0)}`);
  const value = parseJson(Buffer.from(text, "base64url").toString("utf8"));
  const { rv, start } = isObject(value) ? value : ({} as { rv?: unknown; start?: unknown });
  if (typeof rv !== "number" || typeof start !== "string") throw invalid("incorrect encoding");
  return { version: rv, after: start };
}
