import type { Clock } from "@holdfast/clock";
import { messageOf } from "@holdfast/clock/internal";
import {
  type BackoffStrategy,
  isTimeoutError,
  jitter,
  type Random,
  withTimeout,
} from "@holdfast/wait";
import { loop } from "@holdfast/wait/internal";
import { isOlder } from "../cache/own-writes.ts";
import type { OwnWrite, Store } from "../cache/store.ts";
import type { ApiTarget } from "../client/api-request.ts";
import { compareVersions } from "../object/resource-version.ts";
import type { Hooks } from "./hooks.ts";
import { currentVersion } from "./list-objects.ts";
import { Pass, type PassContext, type PassObserver } from "./pass.ts";
import { CROWD_PERIOD, decidePass, type NextPass, type PassEnd } from "./pass-decision.ts";
import type { Progress } from "./progress.ts";
import { type Question, resourceName } from "./question.ts";
import type { ReflectorErrorStatus, ReflectorState, ReflectorStatus } from "./reflector-status.ts";

/** Settings that all reflectors of a cluster share. */
export interface ReflectorSettings {
  readonly target: ApiTarget & { readonly clock: Clock };
  readonly random: Random | undefined;
  readonly backoff: BackoffStrategy;
  readonly idleTimeout: number;
  readonly pageSize: number;
  readonly relistEvery: number;
  readonly hooks: Hooks;
  /** Told when a list is complete and when the watch has moved. */
  readonly progress: Progress;
}

/** Share of a time named by the server that is added to it at most, so that clients do not come at once. */
const SPREAD = 0.2;

/** Time in which a watch should catch up before a list is asked for, in milliseconds. */
const CATCH_UP_TIMEOUT = 5_000;

/** A watch that has not moved for this time has nothing to bring; it may never come to the server's version. */
const QUIET_PERIOD = 1_000;

const FIRST: NextPass = { begin: "list", probe: false, delay: "none", startsOver: true, barren: 0 };

/** Keeps a store equal to the server: lists, then watches, again and again until its signal aborts. */
export class Reflector implements PassObserver {
  readonly question: Question;
  readonly store: Store;
  readonly #settings: ReflectorSettings;
  readonly #context: PassContext;
  #state: ReflectorState = "idle";
  #pass: Pass | undefined = undefined;
  #next: NextPass = FIRST;
  #ladder: () => number;
  #wantsList = false;
  /** Numbers of the lists that were begun, and of the last complete one. */
  #lists = 0;
  #listed = 0;
  #listEndedAt = Number.NEGATIVE_INFINITY;
  #watches = 0;
  /** Instants at which watches were asked for, within the period that counts. */
  #recentWatches: number[] = [];
  #failures = 0;
  #heardAt: number | undefined = undefined;
  #lastEventAt: number | undefined = undefined;
  #lastError: ReflectorErrorStatus | undefined = undefined;

  constructor(question: Question, store: Store, settings: ReflectorSettings) {
    this.question = question;
    this.store = store;
    this.#settings = settings;
    this.#ladder = settings.backoff.delayFunc();
    this.#context = { ...settings, question, store, observer: this };
  }

  /** Resolves after the abort. No request, timer or listener remains. */
  async run(signal: AbortSignal): Promise<void> {
    // A later run goes on from the version it has, unless the server was put back meanwhile.
    if (this.store.hasSynced) this.#next = { ...FIRST, begin: "watch", probe: true };
    const run = (stop: AbortSignal): Promise<void> => this.#runPass(stop);
    try {
      await loop({ run, delay: () => this.#delay(), signal, clock: this.#clock });
    } finally {
      this.#state = "idle";
      this.#recentWatches = [];
    }
  }

  /** Lists as soon as possible: now if it watches, else with the next pass. */
  relist(): void {
    this.#wantsList = true;
    this.#pass?.relist();
  }

  /** Takes a write of this process. */
  write(write: OwnWrite): void {
    if (this.store.write(write) !== "agrees") this.relist();
  }

  /**
   * Resolves when the store has everything that the server has now: the watch has come to the server's version,
   * or a list that was begun later is complete. It is asked for when the watch has not moved for 1 s, after
   * 5 s, and if the version is not available. Rejects with `signal.reason`.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    const begun = this.#lists;
    const isListed = (): boolean => this.#listed > begun;
    const watched = (stop: AbortSignal): Promise<boolean> => this.#catchUpByWatch(isListed, stop);
    if (await this.#within(CATCH_UP_TIMEOUT, watched, signal)) return;
    this.relist();
    await this.#settings.progress.until(isListed, signal);
  }

  /** Returns false when the watch does not move, or has no version to come to. */
  async #catchUpByWatch(isListed: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { target, progress } = this.#settings;
    const goal = await currentVersion(this.question, target, signal).catch(() => undefined);
    if (goal === undefined) return false;
    const isThere = (): boolean => isListed() || this.#hasReached(goal);
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

  status(): ReflectorStatus {
    const { store, question } = this;
    const now = this.#clock.monotonic();
    return {
      namespace: question.namespace,
      state: this.#state,
      hasSynced: store.hasSynced,
      size: store.table.objects.size,
      lists: this.#lists,
      watches: this.#watches,
      lastEventAt: this.#lastEventAt,
      silentFor: this.#heardAt === undefined ? null : now - this.#heardAt,
      lastError: this.#lastError,
    };
  }

  listBegins(): void {
    this.#state = "listing";
    this.#lists++;
    this.#wantsList = false;
  }

  listEnds(isComplete: boolean): void {
    this.#listEndedAt = this.#clock.monotonic();
    if (!isComplete) return;
    this.#listed = this.#lists;
    this.#settings.progress.notify();
  }

  watchBegins(): void {
    this.#state = "watching";
    this.#watches++;
    this.#recentWatches.push(this.#clock.monotonic());
    if (this.#wantsList) this.#pass?.relist();
  }

  heard(what: "open" | "event" | "bookmark"): void {
    this.#heardAt = this.#clock.monotonic();
    if (what === "event") this.#lastEventAt = this.#clock.now();
    if (what !== "open") this.#settings.progress.notify();
  }

  get #clock(): Clock {
    return this.#settings.target.clock;
  }

  async #runPass(signal: AbortSignal): Promise<void> {
    const { begin, probe } = this.#next;
    const pass = new Pass(this.#context, this.#wantsList ? "list" : begin, probe);
    this.#pass = pass;
    try {
      this.#follow(await pass.run(signal), pass);
    } finally {
      this.#pass = undefined;
      this.#state = "waiting";
    }
  }

  #follow(end: PassEnd, pass: Pass): void {
    const now = this.#clock.monotonic();
    this.#recentWatches = this.#recentWatches.filter((at) => now - at < CROWD_PERIOD);
    const { phase, isHealthy, needsProbe } = pass;
    const next = decidePass(end, {
      ...{ phase, isHealthy, barren: this.#next.barren },
      sinceList: now - this.#listEndedAt,
      watches: this.#recentWatches.length,
    });
    // A probe that failed is still due, unless a list comes first.
    this.#next = { ...next, probe: next.begin === "watch" && (next.probe || needsProbe) };
    this.#report(end, pass);
  }

  #delay(): number {
    const { delay, startsOver } = this.#next;
    const { backoff, random } = this.#settings;
    if (startsOver) this.#ladder = backoff.delayFunc();
    if (delay === "none") return 0;
    return delay === "ladder" ? this.#ladder() : jitter(delay, SPREAD, random);
  }

  /** One failure is routine: servers restart, connections break. */
  #report(end: PassEnd, { phase, isHealthy }: Pass): void {
    const { hooks } = this.#settings;
    const { resource, namespace } = this.question;
    const details = { resource: resourceName(resource), namespace, phase };
    if (isHealthy) this.#failures = 0;
    if (end.kind !== "failed" && end.kind !== "busy") {
      hooks.log("debug", { ...details, end: end.kind }, "watch ended");
      return;
    }
    this.#failures++;
    const err = end.kind === "failed" ? end.error : undefined;
    const message =
      end.kind === "busy" ? `server busy, retry after ${end.after} ms` : messageOf(err);
    this.#lastError = { message, at: this.#clock.now(), phase };
    const level = this.#failures > 1 ? "warn" : "debug";
    hooks.log(level, { ...details, err, reason: message }, `${phase} failed; retrying`);
  }

  #hasReached(goal: string): boolean {
    const { version } = this.store;
    if (version === undefined) return false;
    return compareVersions(version, goal) !== undefined && !isOlder(version, goal);
  }
}
