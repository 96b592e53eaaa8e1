import type { Clock } from "@holdfast/clock";
import { jitter, type Random } from "@holdfast/wait";
import type { CachedObject } from "../cache/change.ts";
import { isOlder } from "../cache/own-writes.ts";
import type { Agreement, Store } from "../cache/store.ts";
import { isApiError } from "../client/api-error.ts";
import { type ApiTarget, openRequest } from "../client/api-request.ts";
import { keyOf } from "../object/object-ref.ts";
import { lines } from "../transport/lines.ts";
import type { Hooks } from "./hooks.ts";
import { currentVersion, listObjects } from "./list-objects.ts";
import { HEALTHY_AFTER, type PassEnd, type Phase } from "./pass-decision.ts";
import { PassScope, PassStop } from "./pass-scope.ts";
import { type Question, requestFor, resourceName } from "./question.ts";
import { readEvent, type WatchEvent } from "./watch-stream.ts";

/** The parts that every pass of a reflector shares. */
export interface PassContext {
  readonly question: Question;
  readonly store: Store;
  readonly target: ApiTarget & { readonly clock: Clock };
  readonly random: Random | undefined;
  readonly idleTimeout: number;
  readonly pageSize: number;
  /** Milliseconds after a list at which its watch ends for the next. */
  readonly relistEvery: number;
  readonly hooks: Hooks;
  readonly observer: PassObserver;
}

/** The reflector, as a pass sees it. */
export interface PassObserver {
  /** A list is about to be asked for. */
  listBegins(): void;
  /** A list has ended; it is complete unless `isComplete` is false. */
  listEnds(isComplete: boolean): void;
  /** A watch is about to be asked for. */
  watchBegins(): void;
  /** The watch was accepted, or has brought something. */
  heard(what: "open" | "event" | "bookmark"): void;
}

/** Length of a watch, in seconds: the server closes it after this time, or up to twice that. */
const WATCH_SECONDS = 300;

/** A `Retry-After` below this, in milliseconds, names no time: the ladder is longer. */
const MIN_RETRY_AFTER = 1_000;

/** One list that is followed by a watch, or one watch. It runs once. */
export class Pass {
  /** The request that the pass is in. */
  phase: Phase;
  /** Whether a probe is due before the watch. */
  needsProbe: boolean;
  /** Whether the watch brought an event or a bookmark, or was open for 5 s. */
  isHealthy = false;
  readonly #context: PassContext;
  #scope: PassScope | undefined = undefined;

  constructor(context: PassContext, begin: Phase, needsProbe: boolean) {
    this.#context = context;
    this.phase = begin;
    this.needsProbe = needsProbe;
  }

  /** Ends the watch of the pass, so that a list follows. A list that runs is left alone. */
  relist(): void {
    if (this.phase === "watch") this.#scope?.stop("relist");
  }

  /** Rejects with `signal.reason` after its abort, and with nothing else. */
  async run(signal: AbortSignal): Promise<PassEnd> {
    const scope = new PassScope(this.#context, signal);
    this.#scope = scope;
    try {
      return await this.#run(scope);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return endOf(scope.signal.aborted ? scope.signal.reason : error);
    } finally {
      scope[Symbol.dispose]();
    }
  }

  async #run({ transport, signal }: PassScope): Promise<PassEnd> {
    const { store, question } = this.#context;
    const target = { ...this.#context.target, transport };
    if (this.phase === "list" || store.version === undefined) {
      this.phase = "list";
      await this.#list(target, signal);
    } else if (this.needsProbe) {
      const version = await currentVersion(question, target, signal);
      this.needsProbe = false;
      if (isOlder(version, store.version)) return { kind: "went-back" };
    }
    this.phase = "watch";
    return await this.#watch(target, signal);
  }

  async #list(target: PassContext["target"], signal: AbortSignal): Promise<void> {
    const { question, store, pageSize, hooks, observer } = this.#context;
    const { clock } = target;
    const items = new Map<string, CachedObject>();
    const startedAt = clock.monotonic();
    observer.listBegins();
    let isComplete = false;
    try {
      const onBegin = (): void => {
        items.clear();
        store.beginList();
      };
      const onObject = (object: Parameters<Store["admit"]>[0]): void => {
        items.set(keyOf(object), store.admit(object));
      };
      const options = { target, clock, pageSize, onBegin, onObject };
      const version = await listObjects(question, options, signal);
      signal.throwIfAborted();
      store.replace(items, version);
      isComplete = true;
      this.needsProbe = false;
    } finally {
      observer.listEnds(isComplete);
      const { size } = items;
      const duration = clock.monotonic() - startedAt;
      hooks.measure((metrics) => metrics.listed(resourceName(question.resource), duration, size));
    }
  }

  async #watch(target: PassContext["target"], signal: AbortSignal): Promise<PassEnd> {
    const { question, store, random, relistEvery, hooks, observer } = this.#context;
    const { clock } = target;
    const request = requestFor(question, "watch", {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: store.version,
      timeoutSeconds: Math.floor(jitter(WATCH_SECONDS, 1, random)),
    });
    const startedAt = clock.monotonic();
    let events = 0;
    let openedAt = Number.POSITIVE_INFINITY;
    observer.watchBegins();
    signal.throwIfAborted();
    const relist = clock.afterFunc(relistEvery, () => this.relist(), { label: "relist" });
    try {
      const { body } = await openRequest(target, request, signal);
      openedAt = clock.monotonic();
      observer.heard("open");
      for await (const line of lines(body)) {
        signal.throwIfAborted();
        const event = readEvent(line, request, question.resource.kind);
        const agreement = this.#take(event);
        events++;
        if (agreement !== "agrees") return { kind: agreement };
      }
      signal.throwIfAborted();
      return { kind: "closed" };
    } finally {
      relist.stop();
      const now = clock.monotonic();
      if (now - openedAt >= HEALTHY_AFTER) this.isHealthy = true;
      const duration = now - startedAt;
      hooks.measure((metrics) =>
        metrics.watchEnded(resourceName(question.resource), duration, events),
      );
    }
  }

  #take(event: WatchEvent): Agreement {
    const { store, observer } = this.#context;
    const isBookmark = event.type === "BOOKMARK";
    const agreement = isBookmark ? store.bookmark(event.version) : store.apply(event);
    this.isHealthy = true;
    observer.heard(isBookmark ? "bookmark" : "event");
    return agreement;
  }
}

/** The end that an error is. */
function endOf(error: unknown): PassEnd {
  if (error instanceof PassStop && error.kind !== "over") return { kind: error.kind };
  if (!isApiError(error)) return { kind: "failed", error };
  const { statusCode, retryAfter = 0 } = error;
  if (statusCode === 410) return { kind: "expired" };
  const isBusy = statusCode === 429 || statusCode === 503;
  if (isBusy && retryAfter >= MIN_RETRY_AFTER) return { kind: "busy", after: retryAfter };
  return { kind: "failed", error };
}
