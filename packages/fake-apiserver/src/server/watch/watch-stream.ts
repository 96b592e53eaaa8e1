import type { Clock, Timer } from "@holdfast/clock";
import { type JsonObject, metadataOf } from "../../object/json.ts";
import { expired } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { representationOf } from "../request/representation.ts";
import { type Selector, selectorOf } from "../request/selector.ts";
import { asServed } from "../resource/normalize.ts";
import type { ResponseBody } from "../response-body.ts";
import type { ApiState } from "../state/api-state.ts";
import type { Change } from "../state/object-store.ts";
import type { WatchRequest } from "./watch-request.ts";

/** Milliseconds between two bookmarks, as in the API server. */
const BOOKMARK_PERIOD = 60_000;

/** A last bookmark comes this long before the end of a watch, in milliseconds. */
const BOOKMARK_BEFORE_END = 2_000;

/** Where a watch reads and writes. */
export interface WatchOptions {
  readonly state: ApiState;
  readonly clock: Clock;
  readonly call: ApiCall;
  readonly request: WatchRequest;
  readonly body: ResponseBody;

  /** Milliseconds after which the server ends a watch that names no time. */
  readonly longest: number;
}

/** Sends the changes of a store to the reader of one watch, until either side ends it. */
export class WatchStream {
  readonly #state: ApiState;
  readonly #clock: Clock;
  readonly #body: ResponseBody;
  readonly #request: WatchRequest;
  readonly #selector: Selector;
  readonly #format: (object: JsonObject) => JsonObject;
  readonly #call: ApiCall;
  readonly #end: number;
  /** The version at which it began. */
  readonly #from: number;

  /** Begins the watch; it ends with its body. */
  constructor({ state, clock, call, request, body, longest }: WatchOptions) {
    this.#state = state;
    this.#clock = clock;
    this.#body = body;
    this.#request = request;
    this.#call = call;
    this.#selector = selectorOf(call);
    const { object } = representationOf(call, () => clock.now(), false);
    this.#format = (one) => object(asServed(call.served, one));
    this.#end = clock.monotonic() + (request.timeout ?? longest);
    this.#from = request.version || state.version;
    this.#begin();
  }

  #begin(): void {
    const { version, sendsInitialEvents, allowsBookmarks } = this.#request;
    const key = this.#call.served.storeKey;
    const store = this.#state.store(key);
    if (version > 0 && sendsInitialEvents !== true && version < store.floor) {
      const message = `too old resource version: ${version} (${store.floor})`;
      this.#send("ERROR", expired(message).status);
      this.#body.end();
      return;
    }
    if (sendsInitialEvents ?? version === 0) this.#sendExisting();
    else if (version > 0) for (const change of store.since(version)) this.#change(change);
    const subscription = this.#state.subscribe(key, (change) => {
      if (change.version > version) this.#change(change);
    });
    this.#body.onClose(() => subscription[Symbol.dispose]());
    this.#keepTime(allowsBookmarks);
  }

  #sendExisting(): void {
    const { keys, objects } = this.#state.store(this.#call.served.storeKey).view();
    for (const key of keys) {
      const object = objects.get(key) as JsonObject;
      if (this.#selector(object)) this.#send("ADDED", this.#format(object));
    }
    const { sendsInitialEvents, allowsBookmarks } = this.#request;
    if (sendsInitialEvents && allowsBookmarks)
      this.#bookmark({ "k8s.io/initial-events-end": "true" });
  }

  #change({ object, previous, version }: Change): void {
    const isIn = object !== undefined && this.#selector(object);
    const wasIn = previous !== undefined && this.#selector(previous);
    if (isIn) this.#send(wasIn ? "MODIFIED" : "ADDED", this.#format(object));
    else if (wasIn) this.#send("DELETED", this.#format(atVersion(previous, version)));
  }

  /** Bookmarks every minute, the last one shortly before the end, and the end itself. */
  #keepTime(allowsBookmarks: boolean): void {
    const timer: Timer = this.#clock.afterFunc(
      this.#untilNext(allowsBookmarks),
      () => {
        const isOver = this.#clock.monotonic() >= this.#end;
        if (isOver) this.#body.end();
        else {
          timer.reset(this.#untilNext(allowsBookmarks));
          this.#bookmark(); // last: a fault after it may close the body, which stops the timer
        }
      },
      { label: "watch of FakeApi" },
    );
    this.#body.onClose(() => timer.stop());
  }

  #untilNext(allowsBookmarks: boolean): number {
    const left = this.#end - this.#clock.monotonic();
    if (!allowsBookmarks || left <= BOOKMARK_BEFORE_END) return left;
    return Math.min(BOOKMARK_PERIOD, left - BOOKMARK_BEFORE_END);
  }

  /** As on the server, a bookmark that does not lead beyond the begin of the watch is left out. */
  #bookmark(annotations?: JsonObject): void {
    const isAhead = this.#state.version > this.#from;
    if (!isAhead && (annotations === undefined || this.#state.version < this.#from)) return;
    const { apiVersion, kind } = this.#call.served;
    const metadata = {
      resourceVersion: String(this.#state.version),
      ...(annotations && { annotations }),
    };
    this.#send("BOOKMARK", this.#format({ kind, apiVersion, metadata }));
  }

  #send(type: string, object: JsonObject): void {
    this.#body.write(`${JSON.stringify({ type, object })}\n`);
  }
}

/** A deleted object carries the version of its deletion. */
function atVersion(object: JsonObject, version: number): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), resourceVersion: String(version) } };
}
