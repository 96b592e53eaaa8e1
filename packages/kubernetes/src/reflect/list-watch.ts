import type { Clock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/kit";
import { type ApiRequest, type ApiTarget, requestJson } from "../client/api-request.ts";
import { collectionRequest } from "../client/collection-request.ts";
import { listPages, readPage } from "../client/list-pages.ts";
import type { Resource } from "../object/resource.ts";
import { isOlder } from "../object/resource-version.ts";
import type { FieldSelector, LabelSelector } from "../object/selector.ts";
import { readObject, type ServerObject } from "../object/server-object.ts";

/** The objects that a reflector lists and watches. */
export interface ListWatch {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Options for {@link listObjects}. */
export interface ListObjectsOptions {
  readonly target: ApiTarget;
  readonly clock: Clock;
  /** Objects a page. */
  readonly pageSize: number;
  /** Called before the first page is asked for, and again if the list begins again. */
  readonly onBegin: () => void;
  /** Receives each object. */
  readonly onObject: (object: ServerObject) => void;
}

/**
 * Lists the objects page by page. Every page is of the same, current state of the server.
 *
 * @returns the version of the list
 */
export async function listObjects(
  listWatch: ListWatch,
  { target, clock, pageSize, onBegin, onObject }: ListObjectsOptions,
  signal: AbortSignal,
): Promise<string> {
  const { path, query, accept } = collectionRequest(listWatch, "list");
  const send = (request: ApiRequest): Promise<object> => requestJson(target, request, signal);
  let version = "";
  onBegin();
  for await (const page of listPages(send, { path, query, accept, pageSize })) {
    if (page.isRestart) {
      version = "";
      onBegin();
    }
    for (const item of page.items) onObject(readObject(item, listWatch.resource.kind));
    const own = requireVersion(page.resourceVersion, path);
    if (version === "") version = own;
    // Its objects may lack changes that the watch from the version of the first page does not repeat.
    if (isOlder(own, version))
      throw new TypeError(
        `the list GET ${path} has a page of an older version: ${own} after ${version}`,
      );
    await yieldTurn(clock);
  }
  return version;
}

/** The version of the server's current state, by a list of one object. */
export async function currentVersion(
  listWatch: ListWatch,
  target: ApiTarget,
  signal: AbortSignal,
): Promise<string> {
  const request = collectionRequest(listWatch, "list", { limit: 1 });
  const list = await requestJson(target, request, signal);
  return requireVersion(readPage(list, request.path).resourceVersion, request.path);
}

/** @throws TypeError if the list has no version: then there is nothing to watch from */
function requireVersion(version: string, path: string): string {
  if (version !== "") return version;
  throw new TypeError(`the list GET ${path} must have metadata.resourceVersion, got none`);
}
