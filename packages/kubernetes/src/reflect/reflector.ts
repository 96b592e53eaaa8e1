import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { LinkedController, messageOf } from "@holdfast/clock/internal";
import {
  type BackoffStrategy,
  type DelayFunc,
  isTimeoutError,
  jitter,
  type Random,
  withTimeout,
} from "@holdfast/wait";
import { loop } from "@holdfast/wait/internal";
import type { ServerObject } from "../cache/server-object.ts";
import type { Consistency, OwnWrite, Store } from "../cache/store.ts";
import { type ApiTarget, openRequest } from "../client/api-request.ts";
import type { CachedObject } from "../object/kube-object.ts";
import { keyOf } from "../object/object-ref.ts";
import { resourceName } from "../object/resource.ts";
import { compareVersions, isOlder } from "../object/resource-version.ts";
import { lines } from "../transport/lines.ts";
import { Failures } from "./failures.ts";
import { History } from "./history.ts";
import type { Hooks } from "./hooks.ts";
import { currentVersion, type ListWatch, listObjects, requestFor } from "./list-watch.ts";
import {
  endOf,
  HEALTHY_AFTER,
  MAX_RETRY_AFTER,
  type NextStep,
  nextStep,
  type SessionEnd,
} from "./next-step.ts";
import type { Progress } from "./progress.ts";
import type { ReflectorStatus } from "./reflector-status.ts";
import { RequestScope } from "./request-scope.ts";
import { readEvent, type WatchEvent } from "./watch-event.ts";

/** Settings that all reflectors of a cluster share. */
export interface ReflectorSettings {
  readonly target: ApiTarget & { readonly clock: Clock };
  readonly random: Random | undefined;
  readonly backoff: BackoffStrategy;
  readonly idleTimeout: number;
  readonly pageSize: number;
  readonly relistEvery: number;
  readonly hooks: Hooks;
  /** Notified when a list is complete and when the watch has moved. */
  readonly progress: Progress;
}

/**
 * The state of a reflector, with its data.
 *
 * | State | Next state |
 * | --- | --- |
 * | `idle` | `listing`, `probing` or `watching`, when a run begins |
 * | `listing` | `watching` when the list is complete, `waiting` when it fails |
 * | `probing` | `watching`, or `waiting` when the request fails |
 * | `watching` | `waiting` |
 * | `waiting` | `listing`, `probing` or `watching`, as `nextStep` has decided |
 * | any | `idle` after the abort |
 */
type State =
  /** Before and after the run. */
  | { readonly kind: "idle" }
  /** Between two requests. */
  | { readonly kind: "waiting"; readonly timer: Timer; readonly delay: NextStep["delay"] }
  | { readonly kind: "listing" }
  /** Asks for the server's version before a watch. */
  | { readonly kind: "probing"; readonly scope: RequestScope }
  | {
      readonly kind: "watching";
      readonly scope: RequestScope;
      readonly from: string | undefined;
      /** When the server accepted it. */
      openedAt: number;
      events: number;
    };

/** Length of a watch, in seconds: the server closes it after this time, or up to twice that. */
const WATCH_SECONDS = 300;

/** A watch that outlasts the time that it asked for by this, in milliseconds, is given up. */
const WATCH_GRACE = 60_000;

/** Share of a time named by the server that is added to it at most, so that clients do not come at once. */
const SPREAD = 0.2;

/** Time in which a watch should catch up before a list is asked for, in milliseconds. */
const CATCH_UP_TIMEOUT = 5_000;

/** A watch that has not moved for this time has nothing to bring; it may never come to the server's version. */
const QUIET_PERIOD = 1_000;

/** Lists must have failed for this time, in milliseconds, before somebody goes on without one. */
const MAX_FAILING = 15_000;

const IDLE: State = { kind: "idle" };

const FIRST: NextStep = { request: "list", probe: false, delay: "none", reset: true, fruitless: 0 };

/** Keeps a store equal to the server: lists, then watches, again and again until its signal aborts. */
export class Reflector {
  readonly listWatch: ListWatch;
  readonly store: Store;
  readonly #settings: ReflectorSettings;
  #state: State = IDLE;
  /** Whether a list was asked for, and has not begun. */
  #wantsList = false;
  readonly #stopped = new AbortController();
  readonly #history: History;
  readonly #failures: Failures;

  constructor(listWatch: ListWatch, store: Store, settings: ReflectorSettings) {
    this.listWatch = listWatch;
    this.store = store;
    this.#settings = settings;
    const { target, idleTimeout, hooks } = settings;
    this.#failures = new Failures({ clock: target.clock, idleTimeout, hooks, ...this.#details });
    this.#history = new History(target.clock);
  }

  /** Resolves after the abort, or after {@link Reflector.stop}. No request, timer or listener remains. */
  async run(parent: AbortSignal): Promise<void> {
    using end = new LinkedController(parent);
    using _link = onAbort(this.#stopped.signal, (reason) => end.abort(reason));
    const { signal } = end;
    const { backoff } = this.#settings;
    let delays = backoff.delayFunc();
    // A later run goes on from the version it has, unless the server was restored meanwhile.
    let step: NextStep = this.store.hasSynced ? { ...FIRST, request: "watch", probe: true } : FIRST;
    const run = async (): Promise<void> => {
      step = await this.#session(step, signal);
      if (step.reset) delays = backoff.delayFunc();
    };
    try {
      await loop({ run, manager: { backoff: () => this.#wait(step.delay, delays) }, signal });
    } finally {
      this.#state = IDLE;
      this.#history.endOfRun();
    }
  }

  /** Ends for good, and forgets its objects. Waits for it end too: there is nothing left to wait for. */
  stop(): void {
    this.#stopped.abort();
    this.store.table.clear();
    this.#settings.progress.notify();
  }

  /** Whether {@link Reflector.stop} was called. */
  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Asks for a list as soon as the current one has ended. A running watch ends for it. */
  relist(): void {
    this.#wantsList = true;
    const state = this.#state;
    if (state.kind === "watching" || state.kind === "probing") state.scope.stop("relist");
    // A time that the server named is not waited for: something here needs the list.
    if (state.kind === "waiting" && typeof state.delay === "number") state.timer.reset(0);
  }

  /** Takes a write of this process. */
  write(write: OwnWrite): void {
    if (this.store.write(write) !== "consistent") this.relist();
  }

  /**
   * Resolves with true when the store has everything that the server has now: the watch has come to the server's
   * version, or a list that was begun later is complete. It is asked for when the watch has not moved for 1 s, after
   * 5 s, and if the version is not available. Resolves with false when lists fail instead, see
   * {@link Reflector.sync}. Rejects with `signal.reason`.
   */
  async catchUp(signal: AbortSignal): Promise<boolean> {
    const begun = this.#history.lists;
    const isListed = (): boolean => this.#history.listed > begun;
    const watched = (stop: AbortSignal): Promise<boolean> => this.#catchUpByWatch(isListed, stop);
    if (await this.#within(CATCH_UP_TIMEOUT, watched, signal)) return true;
    this.relist();
    return await this.#untilListed(isListed, signal);
  }

  /**
   * Resolves with true when the first list is complete, and with false when lists have failed for 15 s: for now there
   * is none. A list that takes long has not failed. Rejects with `signal.reason`.
   */
  sync(signal: AbortSignal): Promise<boolean> {
    return this.#untilListed(() => this.store.hasSynced, signal);
  }

  status(): ReflectorStatus {
    const { store, listWatch } = this;
    const { lists, watches, lastEventAt, heardAt } = this.#history;
    const state = this.#state.kind;
    return {
      namespace: listWatch.namespace,
      state: state === "probing" ? "watching" : state,
      hasSynced: store.hasSynced,
      size: store.table.objects.size,
      rejected: store.table.rejections.size,
      lists,
      watches,
      lastEventAt,
      silentFor: heardAt === undefined ? null : this.#clock.monotonic() - heardAt,
      isRefused: this.#failures.isRefused,
      lastError: this.#failures.last,
    };
  }

  /** Notes that a function of the user has thrown for an object. The others go on. */
  reject(key: string, by: string, error: unknown): void {
    const { hooks } = this.#settings;
    const resource = resourceName(this.listWatch.resource);
    const isTransform = by === "options.transform";
    const message = `${by} threw for ${resource} ${key}: ${messageOf(error)}`;
    this.#failures.last = { message, at: this.#clock.now(), phase: "object" };
    const [function_] = by.split("[");
    const remains = isTransform ? "skipped" : "left out of the index";
    const details = { resource, key, by, err: error };
    hooks.log("error", details, `object rejected by ${function_}; ${remains}`);
    hooks.measure((metrics) => metrics.rejected(resource));
  }

  get #clock(): Clock {
    return this.#settings.target.clock;
  }

  /**
   * One list that a watch follows, or one watch. Resolves with the step that follows. Rejects with `signal.reason`
   * after its abort.
   */
  async #session(step: NextStep, signal: AbortSignal): Promise<NextStep> {
    const { target, idleTimeout } = this.#settings;
    using scope = new RequestScope({ target, idleTimeout }, signal);
    try {
      return this.#stepAfter(await this.#listAndWatch(step, scope), step);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return this.#stepAfter(endOf(scope.signal.aborted ? scope.signal.reason : error), step);
    }
  }

  async #listAndWatch({ request, probe }: NextStep, scope: RequestScope): Promise<SessionEnd> {
    const target = { ...this.#settings.target, transport: scope.transport };
    const { version } = this.store;
    if (request === "list" || this.#wantsList || version === undefined)
      await this.#list(target, scope.signal);
    else if (probe || !this.#history.isFresh) {
      this.#state = { kind: "probing", scope };
      const current = await currentVersion(this.listWatch, target, scope.signal);
      if (isOlder(current, version)) return { kind: "rollback" };
      this.#history.probed = current;
      this.#failures.isRefused = false;
    }
    return await this.#watch(target, scope);
  }

  async #list(target: ReflectorSettings["target"], signal: AbortSignal): Promise<void> {
    const { listWatch, store } = this;
    const { pageSize, hooks, progress } = this.#settings;
    const clock = this.#clock;
    const items = new Map<string, CachedObject>();
    const startedAt = clock.monotonic();
    this.#state = { kind: "listing" };
    this.#history.lists++;
    this.#wantsList = false;
    const onBegin = (): void => {
      items.clear();
      store.beginList();
    };
    const onObject = (object: ServerObject): void => {
      const admitted = store.admit(object);
      if (admitted !== undefined) items.set(keyOf(object), admitted);
    };
    try {
      const options = { target, clock, pageSize, onBegin, onObject };
      const version = await listObjects(listWatch, options, signal);
      signal.throwIfAborted();
      store.replace(items, version);
      this.#failures.endOfLists();
      this.#history.listComplete();
      this.#failures.endOfAll();
      progress.notify();
    } finally {
      const { size } = items;
      this.#history.listEnded();
      const duration = clock.monotonic() - startedAt;
      hooks.measure((metrics) => metrics.listed(resourceName(listWatch.resource), duration, size));
    }
  }

  async #watch(target: ReflectorSettings["target"], scope: RequestScope): Promise<SessionEnd> {
    const { listWatch, store } = this;
    const { random, relistEvery, hooks } = this.#settings;
    const clock = this.#clock;
    const { signal } = scope;
    const timeoutSeconds = Math.floor(jitter(WATCH_SECONDS, 1, random));
    const request = requestFor(listWatch, "watch", {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: store.version,
      timeoutSeconds,
    });
    const startedAt = clock.monotonic();
    const openedAt = Number.POSITIVE_INFINITY;
    const state = { kind: "watching" as const, scope, from: store.version, openedAt, events: 0 };
    this.#state = state;
    this.#history.watchBegins();
    if (this.#wantsList) return { kind: "relist" };
    signal.throwIfAborted();
    const longest = timeoutSeconds * 1_000 + WATCH_GRACE;
    const end = clock.afterFunc(longest, () => scope.stop("idle"), { label: "end of watch" });
    const untilList = Math.max(this.#history.listedAt + relistEvery - startedAt, 0);
    const list = clock.afterFunc(untilList, () => this.relist(), { label: "relist" });
    try {
      const { body } = await openRequest(target, request, signal);
      state.openedAt = clock.monotonic();
      this.#failures.isRefused = false;
      for await (const line of lines(body)) {
        signal.throwIfAborted();
        const consistency = this.#take(readEvent(line, request, listWatch.resource.kind));
        state.events++;
        if (consistency !== "consistent") return { kind: consistency };
      }
      signal.throwIfAborted();
      return { kind: "closed" };
    } finally {
      end.stop();
      list.stop();
      const duration = clock.monotonic() - startedAt;
      const { events } = state;
      hooks.measure((metrics) =>
        metrics.watchEnded(resourceName(listWatch.resource), duration, events),
      );
    }
  }

  #take(event: WatchEvent): Consistency {
    const { store } = this;
    const isBookmark = event.type === "BOOKMARK";
    const before = store.version;
    const consistency = isBookmark ? store.bookmark(event.version) : store.apply(event);
    // An event that is there already, or that the cache cannot follow, says nothing about the server's state now.
    const isOld = isOlder(store.version ?? "", this.#history.probed ?? "");
    const isNews = (isBookmark || store.version !== before) && !isOld;
    if (isNews && consistency === "consistent") {
      this.#history.hear();
      this.#failures.endOfAll();
    }
    if (!isBookmark) this.#history.lastEventAt = this.#clock.now();
    this.#settings.progress.notify();
    return consistency;
  }

  /** Decides the next step, by the state in which the session ended. */
  #stepAfter(end: SessionEnd, { fruitless }: NextStep): NextStep {
    const state = this.#state;
    const watch = state.kind === "watching" ? state : undefined;
    const hasOpened =
      watch !== undefined && this.#clock.monotonic() - watch.openedAt >= HEALTHY_AFTER;
    const request = state.kind === "listing" ? "list" : "watch";
    if (end.kind === "rollback") this.store.rollBack();
    this.#report(end, request);
    return nextStep(end, {
      request,
      isProbe: state.kind === "probing",
      isHealthy: watch !== undefined && (watch.events > 0 || hasOpened),
      hasAdvanced: watch !== undefined && watch.from !== this.store.version,
      fruitless,
      ...this.#history.facts(),
    });
  }

  /** Begins the delay before the next session. */
  #wait(delay: NextStep["delay"], delays: DelayFunc): Timer {
    const { random, progress } = this.#settings;
    const timer = this.#clock.newTimer(delayOf(delay, delays, random), { label: "list and watch" });
    this.#state = { kind: "waiting", timer, delay };
    progress.notify();
    return timer;
  }

  #report(end: SessionEnd, phase: "list" | "watch"): void {
    // A watch may be silent. A list, or the request for the current version, may not.
    const hangs = end.kind === "idle" && this.#state.kind !== "watching";
    if (end.kind === "failed" || end.kind === "busy" || hangs)
      this.#failures.note(end, this.#state.kind === "watching" ? "watching" : phase);
    else
      this.#settings.hooks.log("debug", { ...this.#details, phase, end: end.kind }, "watch ended");
  }

  get #details(): { readonly resource: string; readonly namespace: string | undefined } {
    const { resource, namespace } = this.listWatch;
    return { resource: resourceName(resource), namespace };
  }

  async #untilListed(isListed: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { progress } = this.#settings;
    const begun = this.#clock.monotonic();
    const isFailing = (): boolean => {
      const since = this.#failures.listsSince;
      if (since === undefined) return false;
      const now = this.#clock.monotonic();
      const isLong = now - since >= MAX_FAILING;
      return isLong || (now - begun >= MAX_FAILING && this.#state.kind === "waiting");
    };
    const look = (): void => progress.notify();
    const timer = this.#clock.afterFunc(MAX_FAILING, look, { label: "failing list" });
    try {
      await progress.until(() => isListed() || isFailing() || this.isStopped, signal);
    } finally {
      timer.stop();
    }
    if (isListed() || this.isStopped) return true;
    const remedy = this.store.hasSynced ? "going on with its cached objects" : "its readers wait";
    const reason = this.#failures.last?.message;
    this.#settings.hooks.log(
      "warn",
      { ...this.#details, reason },
      `a kind cannot be listed; ${remedy}`,
    );
    return false;
  }

  /** Returns false when the watch does not move, or has no version to come to. */
  async #catchUpByWatch(isListed: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { target, progress } = this.#settings;
    const goal = await currentVersion(this.listWatch, target, signal).catch(() => undefined);
    if (goal === undefined) return false;
    const isThere = (): boolean => isListed() || this.isStopped || this.#hasReached(goal);
    const arrived = (stop: AbortSignal): Promise<boolean> =>
      progress.until(isThere, stop).then(() => true);
    let seen: string | undefined;
    do {
      seen = this.store.version;
      if (await this.#within(QUIET_PERIOD, arrived, signal)) return true;
    } while (this.store.version !== seen);
    return false;
  }

  /** The result of the work, or false after the timeout. Rejects with `signal.reason`. */
  async #within(
    timeout: number,
    work: (stop: AbortSignal) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      return await withTimeout(work, timeout, { signal, clock: this.#clock, label: "catch up" });
    } catch (error) {
      if (signal.aborted || !isTimeoutError(error)) throw error;
      return false;
    }
  }

  #hasReached(goal: string): boolean {
    const { version } = this.store;
    if (version === undefined) return false;
    return compareVersions(version, goal) !== undefined && !isOlder(version, goal);
  }
}

function delayOf(delay: NextStep["delay"], delays: DelayFunc, random: Random | undefined): number {
  if (delay === "none") return 0;
  if (delay === "backoff") return delays();
  return Math.min(jitter(delay, SPREAD, random), MAX_RETRY_AFTER);
}
