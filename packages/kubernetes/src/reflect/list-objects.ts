import type { Clock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/clock/internal";
import { readObject, type ServerObject } from "../cache/server-object.ts";
import { type ApiRequest, type ApiTarget, requestJson } from "../client/api-request.ts";
import { listPages, readPage } from "../client/list-pages.ts";
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

/**
 * Lists the objects page by page. Every page is of the same, current state of the server.
 *
 * @returns the version of the list
 */
export async function listObjects(
  question: Question,
  { target, clock, pageSize, onBegin, onObject }: ListOptions,
  signal: AbortSignal,
): Promise<string> {
  const { path, query = {}, accept } = requestFor(question, "list", {});
  const send = (request: ApiRequest): Promise<object> => requestJson(target, request, signal);
  let version = "";
  onBegin();
  for await (const page of listPages(send, { path, query, accept, pageSize })) {
    if (page.isRestart) {
      version = "";
      onBegin();
    }
    for (const item of page.items) onObject(readObject(item, question.resource.kind));
    if (version === "") version = requireVersion(page.resourceVersion, path);
    await yieldTurn(clock);
  }
  return version;
}

/** The version of the server's current state, by a list of one object. */
export async function currentVersion(
  question: Question,
  target: ApiTarget,
  signal: AbortSignal,
): Promise<string> {
  const request = requestFor(question, "list", { limit: 1 });
  const answer = await requestJson(target, request, signal);
  return requireVersion(readPage(answer, request.path).resourceVersion, request.path);
}

/** @throws TypeError if the list has no version: then there is nothing to watch from */
function requireVersion(version: string, path: string): string {
  if (version !== "") return version;
  throw new TypeError(`the list GET ${path} must have metadata.resourceVersion, got none`);
}
