import type { Clock, Timer } from "@holdfast/clock";
import { type JsonObject, metadataOf } from "../../object/json.ts";
import { expired, Failure } from "../failure.ts";
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

/** Milliseconds for which a server tries to convert what a watch should get, before it ends the watch. */
const CONVERSION_TIME = 30_000;

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
  /** The version at which it began: that of the last change that was there by then. */
  #from: number;
  /** Whether an object does not convert to the version of the watch, which then says nothing until its end. */
  #isSilent = false;

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
    else if (version > 0)
      for (const change of store.since(version)) {
        this.#change(change);
        this.#from = change.version;
      }
    const subscription = this.#state.subscribe(key, (change) => {
      if (change.version > version) this.#change(change);
    });
    this.#body.onClose(() => subscription[Symbol.dispose]());
    this.#keepTime(allowsBookmarks);
  }

  #sendExisting(): void {
    const { keys, objects } = this.#state.store(this.#call.served.storeKey).view();
    const all = keys.map((key) => objects.get(key) as JsonObject).filter(this.#selector);
    this.#sendConverted(() => all.map((object) => lineOf("ADDED", this.#format(object))).join(""));
    const { sendsInitialEvents, allowsBookmarks } = this.#request;
    if (sendsInitialEvents && allowsBookmarks)
      this.#bookmark({ "k8s.io/initial-events-end": "true" });
  }

  #change({ key, object, previous, version }: Change): void {
    const isIn = object !== undefined && this.#selector(object);
    const wasIn = previous !== undefined && this.#selector(previous);
    const type = isIn ? (wasIn ? "MODIFIED" : "ADDED") : "DELETED";
    const seen = isIn ? object : wasIn ? atVersion(previous, version) : undefined;
    if (seen === undefined) return;
    // A server that lists its objects again does not see what is no longer there.
    const isPast = this.#state.store(this.#call.served.storeKey).get(key) !== object;
    this.#sendConverted(() => lineOf(type, this.#format(seen)), isPast);
  }

  #sendConverted(lines: () => string, canMiss = false): void {
    if (this.#isSilent) return;
    try {
      this.#body.write(lines());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!canMiss) this.#fallSilent();
    }
  }

  #fallSilent(): void {
    this.#isSilent = true;
    const label = { label: "conversion for a watch of FakeApi" };
    const timer = this.#clock.afterFunc(CONVERSION_TIME, () => this.#body.end(), label);
    this.#body.onClose(() => timer.stop());
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
    if (!this.#isSilent) this.#send("BOOKMARK", this.#format({ kind, apiVersion, metadata }));
  }

  #send(type: string, object: JsonObject): void {
    this.#body.write(lineOf(type, object));
  }
}

function lineOf(type: string, object: JsonObject): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** A deleted object carries the version of its deletion. */
function atVersion(object: JsonObject, version: number): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), resourceVersion: String(version) } };
}
