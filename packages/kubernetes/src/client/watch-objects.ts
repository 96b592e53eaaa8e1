import { onAbort } from "@holdfast/clock";
import { recaptureStack } from "@holdfast/kit";
import { Deadline } from "@holdfast/wait/limit";
import type { KubeObject, StoredObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import type { KubeResponse } from "../transport/kube-transport.ts";
import { type ApiRequest, type ApiTarget, openRequest } from "./api-request.ts";
import { call } from "./call.ts";
import { type KubeWatchEvent, type Limits, WATCH_SECONDS } from "./call-options.ts";
import { readEvents } from "./watch-event.ts";
import { completed } from "./written-object.ts";

/** A watch that outlasts the time that it asked for by this, in milliseconds, is given up. */
export const WATCH_GRACE = 60_000;

/** A watch to be opened. */
export interface ObjectWatch<T extends KubeObject> {
  readonly resource: Resource<T, KubeObject>;
  readonly request: ApiRequest;
  readonly limits: Limits;
}

/** Opens a watch when its first event is wanted, and reads it until the server closes it. */
export async function* watchObjects<T extends KubeObject>(
  target: ApiTarget,
  { resource, request, limits }: ObjectWatch<T>,
): AsyncGenerator<KubeWatchEvent<T>, void, undefined> {
  const { clock } = target;
  const name = `GET ${request.path}`;
  const longest = WATCH_SECONDS * 1_000 + WATCH_GRACE;
  const message = `${name}: the watch did not end after ${longest} ms`;
  using life = new Deadline(longest, { clock, signal: limits.signal, label: name, message });
  // The response outlives the call that waits for it.
  const sendOnce = async (to: ApiTarget, one: ApiRequest, waiting: AbortSignal) => {
    using _end = onAbort(waiting, () => life.cancel());
    return await openRequest(to, one, life.signal, waiting);
  };
  const response = await call<KubeResponse, KubeResponse>(
    target,
    name,
    { ...limits, sendOnce },
    (send) => send(request),
  );
  try {
    for await (const event of readEvents(response, request, resource.kind, life.signal)) {
      if (event.type === "BOOKMARK") yield { type: event.type, resourceVersion: event.version };
      else {
        const object = completed<StoredObject<T>>(resource, event.object);
        yield { type: event.type, resourceVersion: object.metadata.resourceVersion, object };
      }
    }
  } catch (error) {
    // Its own stack shows a socket or a timer, and no caller. The reason of an abort is the caller's.
    if (error instanceof Error && error !== limits.signal?.reason)
      recaptureStack(error, watchObjects);
    throw error;
  }
}
