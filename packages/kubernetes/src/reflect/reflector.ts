import { type Clock, LinkedController, type Timer } from "@holdfast/clock";
import { type Hooks, messageOf } from "@holdfast/kit";
import { resourceName } from "@holdfast/kit/kubernetes";
import { type BackoffStrategy, type DelayFunc, jitter, type Random } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import type { Consistency, OwnWrite, Store } from "../cache/store.ts";
import { type ApiTarget, openRequest } from "../client/api-request.ts";
import { WATCH_SECONDS } from "../client/call-options.ts";
import { collectionRequest } from "../client/collection-request.ts";
import { readEvents, type WatchEvent } from "../client/watch-event.ts";
import { WATCH_GRACE } from "../client/watch-objects.ts";
import type { KubernetesMetrics } from "../kubernetes-metrics.ts";
import type { CachedObject } from "../object/kube-object.ts";
import { keyOf } from "../object/object-ref.ts";
import { isOlder } from "../object/resource-version.ts";
import type { ServerObject } from "../object/server-object.ts";
import { History } from "./history.ts";
import { currentVersion, type ListWatch, listObjects } from "./list-watch.ts";
import {
  endOf,
  HEALTHY_AFTER,
  MAX_BUSY,
  type NextStep,
  nextStep,
  type SessionEnd,
} from "./next-step.ts";
import type { Progress } from "./progress.ts";
import type { ReflectorStatus } from "./reflector-status.ts";
import { RequestScope } from "./request-scope.ts";

/** Settings that all reflectors of a cluster share. */
export interface ReflectorSettings {
  readonly target: ApiTarget;
  readonly random: Random | undefined;
  readonly backoff: BackoffStrategy;
  readonly idleTimeout: number;
  readonly pageSize: number;
  readonly relistEvery: number;
  readonly hooks: Hooks;
  /** Their errors are logged. */
  readonly metrics: KubernetesMetrics | undefined;
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
  | { readonly kind: "waiting"; readonly timer: Timer }
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

/** Length of a short watch, as a share of the idle timeout. */
const SHORT = 0.8;

/** Share of a time named by the server that is added to it at most, so that clients do not come at once. */
const SPREAD = 0.2;

const IDLE: State = { kind: "idle" };

const FIRST: NextStep = {
  ...{ request: "list", probe: false, delay: "none", reset: true },
  ...{ isShort: false, fruitless: 0 },
};

/** Keeps a store equal to the server: lists, then watches, again and again until its signal aborts. */
export class Reflector {
  readonly listWatch: ListWatch;
  readonly store: Store;
  readonly settings: ReflectorSettings;
  readonly history: History;
  #state: State = IDLE;
  readonly #stopped = new AbortController();

  constructor(listWatch: ListWatch, store: Store, settings: ReflectorSettings) {
    this.listWatch = listWatch;
    this.store = store;
    this.settings = settings;
    const { target, idleTimeout, hooks } = settings;
    this.history = new History({ clock: target.clock, idleTimeout, hooks, details: this.details });
  }

  /** Resolves after the abort, or after {@link Reflector.stop}. No request, timer or listener remains. */
  async run(parent: AbortSignal): Promise<void> {
    using end = new LinkedController(parent, this.#stopped.signal);
    const { signal } = end;
    const { backoff } = this.settings;
    let delays = backoff.delayFunc();
    // A later run goes on from the version it has, unless the server was restored meanwhile.
    let step: NextStep = this.store.hasSynced ? { ...FIRST, request: "watch", probe: true } : FIRST;
    const run = async (): Promise<void> => {
      step = this.#stepAfter(await this.#listAndWatch(step, signal), step);
      if (step.reset) delays = backoff.delayFunc();
    };
    try {
      await loop({ run, manager: { backoff: () => this.#wait(step.delay, delays) }, signal });
    } finally {
      this.#state = IDLE;
      this.history.endOfRun();
    }
  }

  /** One list that a watch follows, or one watch: resolves with its end. Rejects with `signal.reason`. */
  async #listAndWatch(
    { request, probe, isShort }: NextStep,
    signal: AbortSignal,
  ): Promise<SessionEnd> {
    const { store, history } = this;
    const { target, idleTimeout } = this.settings;
    using scope = new RequestScope({ target, idleTimeout }, signal);
    try {
      if (request === "list" || history.wantsList || store.version === undefined)
        await this.#list(scope);
      else if (probe || !history.isFresh) {
        const current = await this.#probe(scope);
        if (isOlder(current, store.version)) return { kind: "rollback" };
        history.probeComplete(current);
      }
      return await this.#watch(scope, isShort);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return endOf(scope.signal.aborted ? scope.signal.reason : error);
    }
  }

  async #list({ target, signal }: RequestScope): Promise<void> {
    const { listWatch, store, history } = this;
    const { pageSize, metrics, progress } = this.settings;
    const { clock } = target;
    const items = new Map<string, CachedObject>();
    const startedAt = clock.monotonic();
    this.#state = { kind: "listing" };
    history.listBegins();
    const onBegin = (): void => {
      items.clear();
      store.beginList();
    };
    const onObject = (object: ServerObject): void => {
      const key = keyOf(object);
      const admitted = store.admit(key, object);
      if (admitted !== undefined) items.set(key, admitted);
    };
    try {
      const options = { target, clock, pageSize, onBegin, onObject };
      const version = await listObjects(listWatch, options, signal);
      signal.throwIfAborted();
      store.replace(items, version);
      history.listComplete();
      progress.notify();
    } finally {
      const { size } = items;
      history.listEnds();
      const duration = clock.monotonic() - startedAt;
      metrics?.listed(resourceName(listWatch.resource), duration, size);
    }
  }

  /** The server's version. A watch from a later one would wait for changes that may never come. */
  #probe(scope: RequestScope): Promise<string> {
    this.#state = { kind: "probing", scope };
    return currentVersion(this.listWatch, scope.target, scope.signal);
  }

  async #watch(scope: RequestScope, isShort: boolean): Promise<SessionEnd> {
    const { listWatch, store, history } = this;
    const { random, relistEvery, metrics, idleTimeout } = this.settings;
    const { target, signal } = scope;
    const { clock } = target;
    const timeoutSeconds = isShort
      ? Math.max(1, Math.floor((SHORT * idleTimeout) / 1_000))
      : Math.floor(jitter(WATCH_SECONDS, 1, random));
    const request = collectionRequest(listWatch, "watch", {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: store.version,
      timeoutSeconds,
    });
    const startedAt = clock.monotonic();
    const openedAt = Number.POSITIVE_INFINITY;
    const state = { kind: "watching" as const, scope, from: store.version, openedAt, events: 0 };
    this.#state = state;
    history.watchBegins();
    if (history.wantsList) return { kind: "relist" };
    signal.throwIfAborted();
    const longest = timeoutSeconds * 1_000 + WATCH_GRACE;
    using _end = clock.afterFunc(longest, () => scope.stop("idle"), { label: "end of watch" });
    const untilList = Math.max(history.listedAt + relistEvery - startedAt, 0);
    using _list = clock.afterFunc(untilList, () => this.relist(), { label: "relist" });
    try {
      const response = await openRequest(target, request, signal);
      state.openedAt = clock.monotonic();
      history.watchOpens();
      for await (const event of readEvents(response, request, listWatch.resource.kind, signal)) {
        const consistency = this.#take(event);
        state.events++;
        if (consistency !== "consistent") return { kind: consistency };
      }
      const isFull = clock.monotonic() - startedAt >= timeoutSeconds * 1_000; // as the server counts
      if (isFull) history.heard();
      return { kind: "closed", isFull };
    } finally {
      const duration = clock.monotonic() - startedAt;
      metrics?.watchEnded(resourceName(listWatch.resource), duration, state.events);
    }
  }

  #take(event: WatchEvent): Consistency {
    const { store, history } = this;
    const isBookmark = event.type === "BOOKMARK";
    const before = store.version;
    const consistency = isBookmark ? store.bookmark(event.version) : store.apply(event);
    // An event that is there already, or that the cache cannot follow, says nothing about the server's state now.
    const isOld = isOlder(store.version ?? "", history.probed ?? "");
    const isNews = (isBookmark || store.version !== before) && !isOld;
    history.eventComes(event.type, isNews && consistency === "consistent");
    this.settings.progress.notify();
    return consistency;
  }

  /** Decides the next step, by the state in which the session ended. */
  #stepAfter(end: SessionEnd, { fruitless, isShort }: NextStep): NextStep {
    const state = this.#state;
    const watch = state.kind === "watching" ? state : undefined;
    const hasOpened =
      watch !== undefined && this.#clock.monotonic() - watch.openedAt >= HEALTHY_AFTER;
    if (end.kind === "rollback") this.store.rollBack();
    this.#report(end);
    return nextStep(end, {
      request: state.kind === "listing" ? "list" : "watch",
      isProbe: state.kind === "probing",
      isHealthy: watch !== undefined && (watch.events > 0 || hasOpened),
      hasAdvanced: watch !== undefined && watch.from !== this.store.version,
      fruitless,
      isShort,
      ...this.history.facts(),
    });
  }

  #report(end: SessionEnd): void {
    const { kind } = this.#state;
    const at = kind === "watching" || kind === "listing" ? kind : "probing";
    // A watch may be silent. A list, or the request for the current version, may not.
    const hangs = end.kind === "idle" && at !== "watching";
    if (end.kind === "failed" || end.kind === "busy" || hangs) this.history.failed(end, at);
    else {
      const phase = at === "listing" ? "list" : "watch";
      this.settings.hooks.log("debug", { ...this.details, phase, end: end.kind }, "watch ended");
    }
  }

  /** Begins the delay before the next session. */
  #wait(delay: NextStep["delay"], delays: DelayFunc): Timer {
    const { random, progress } = this.settings;
    const timer = this.#clock.newTimer(delayOf(delay, delays, random), { label: "list and watch" });
    this.#state = { kind: "waiting", timer };
    progress.notify();
    return timer;
  }

  /** Asks for a list as soon as the current one has ended. A running watch ends for it. */
  relist(): void {
    this.history.listWanted();
    const state = this.#state;
    if (state.kind === "watching" || state.kind === "probing") state.scope.stop("relist");
    // Not even a time that the server named is waited for: something here needs the list.
    if (state.kind === "waiting") state.timer.reset(0);
  }

  /** Takes a write of this process. */
  write(write: OwnWrite): void {
    if (this.store.write(write) !== "consistent") this.relist();
  }

  /** Ends for good, and forgets its objects. Waits for it end too: there is nothing left to wait for. */
  stop(): void {
    this.#stopped.abort();
    this.store.table.clear();
    this.settings.progress.notify();
  }

  /** Whether {@link Reflector.stop} was called. */
  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  get state(): State["kind"] {
    return this.#state.kind;
  }

  status(): ReflectorStatus {
    const { store, listWatch, state } = this;
    const { lists, watches, lastEventAt, heardAt, isRefused, lastError } = this.history;
    return {
      namespace: listWatch.namespace,
      state: state === "probing" ? "watching" : state,
      hasSynced: store.hasSynced,
      size: store.table.objects.size,
      rejected: store.table.rejections.size,
      lists,
      watches,
      lastEventAt,
      silentFor: heardAt === undefined ? undefined : this.#clock.monotonic() - heardAt,
      isRefused,
      lastError,
    };
  }

  /** Details for the log. */
  get details(): { readonly resource: string; readonly namespace: string | undefined } {
    const { resource, namespace } = this.listWatch;
    return { resource: resourceName(resource), namespace };
  }

  /** Notes that a function of the user has thrown for an object. The others go on. */
  reject(key: string, by: string, error: unknown): void {
    const { hooks, metrics } = this.settings;
    const { resource } = this.details;
    const isTransform = by === "options.transform";
    this.history.objectFailed(`${by} threw for ${resource} ${key}: ${messageOf(error)}`);
    const [function_] = by.split("[");
    const remains = isTransform ? "skipped" : "left out of the index";
    const details = { resource, key, by, err: error };
    hooks.logRepeated(`${by} ${key}`, details, `object rejected by ${function_}; ${remains}`);
    metrics?.rejected(resource);
  }

  get #clock(): Clock {
    return this.settings.target.clock;
  }
}

function delayOf(delay: NextStep["delay"], delays: DelayFunc, random: Random | undefined): number {
  if (delay === "none") return 0;
  const planned = delays();
  if (delay === "backoff") return planned;
  // A server that names a second each time must not be asked each second.
  return Math.max(planned, Math.min(jitter(delay, SPREAD, random), MAX_BUSY));
}
