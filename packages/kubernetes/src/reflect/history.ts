import type { Clock } from "@holdfast/clock";
import { findError } from "@holdfast/clock";
import { type Hooks, messageOf, RepeatedLines } from "@holdfast/kit";
import { ApiError } from "../client/api-error.ts";
import type { WatchEvent } from "../client/watch-event.ts";
import { type SessionEnd, type StepFacts, WATCH_PERIOD } from "./next-step.ts";
import type { ReflectorErrorStatus } from "./reflector-status.ts";

/** A watch that begins within this time after an event, a bookmark or a list needs no probe, in milliseconds. */
const FRESH = 60_000;

/** Options for {@link History}. */
export interface HistoryOptions {
  readonly clock: Clock;
  readonly idleTimeout: number;
  readonly hooks: Hooks;
  /** Details of each log line. */
  readonly details: { readonly resource: string; readonly namespace: string | undefined };
}

/**
 * What a reflector has asked for, heard and failed at: counts, and instants of the monotonic clock. Its methods are the facts
 * that change it; other files only read its fields.
 */
export class History {
  /** Number of lists that were begun. */
  lists = 0;
  /** Whether a list was asked for, and has not begun. */
  wantsList = false;
  /** Number of the last complete list, and its instant. */
  listed = 0;
  listedAt: number = Number.NEGATIVE_INFINITY;
  /** Number of watches that were asked for. */
  watches = 0;
  /** Version of the server in the last probe since the last list. Older events say nothing about its state now. */
  probed: string | undefined = undefined;
  /**
   * When the last event or bookmark came that was not older than the probe, a watch ended at its time, or the last list
   * was complete.
   */
  heardAt: number | undefined = undefined;
  /** Time of the last event on the wall clock. */
  lastEventAt: number | undefined = undefined;
  /** Whether the server refuses to list. */
  isRefused = false;
  lastError: ReflectorErrorStatus | undefined = undefined;
  /** When the first list failed since the last complete one. */
  listsFailSince: number | undefined = undefined;
  readonly #options: HistoryOptions;
  readonly #clock: Clock;
  readonly #lines: RepeatedLines;
  /** When the last list ended, complete or not. */
  #listEndedAt: number = Number.NEGATIVE_INFINITY;
  /** Instants at which watches were asked for, within the period that counts. */
  #recentWatches: number[] = [];
  /** Failures since the server was heard. */
  #failures = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#lines = new RepeatedLines(options.clock);
  }

  listWanted(): void {
    this.wantsList = true;
  }

  listBegins(): void {
    this.lists++;
    this.wantsList = false;
  }

  listComplete(): void {
    this.probed = undefined;
    this.listed = this.lists;
    this.listedAt = this.#clock.monotonic();
    this.listsFailSince = undefined;
    this.isRefused = false;
    this.heard();
  }

  /** Complete or not. */
  listEnds(): void {
    this.#listEndedAt = this.#clock.monotonic();
  }

  /** The server has told its version, which is not below ours. */
  probeComplete(version: string): void {
    this.probed = version;
    this.isRefused = false;
  }

  watchBegins(): void {
    this.watches++;
    this.#recentWatches.push(this.#clock.monotonic());
  }

  watchOpens(): void {
    this.isRefused = false;
  }

  /** An event, or a bookmark, has come. Only news tell the state of now. */
  eventComes(type: WatchEvent["type"], isNews: boolean): void {
    if (type !== "BOOKMARK") this.lastEventAt = this.#clock.now();
    if (isNews) this.heard();
  }

  /** A function of the user has thrown for an object. */
  objectFailed(message: string): void {
    this.lastError = { message, at: this.#clock.now(), phase: "object" };
  }

  /** The server has told its state of now: by a list, an event, a bookmark or the end of a full watch. */
  heard(): void {
    this.heardAt = this.#clock.monotonic();
    this.#failures = 0;
  }

  /** Notes a failure, and logs it. `"probing"` counts as a watch. */
  failed(end: SessionEnd, at: "listing" | "probing" | "watching"): void {
    this.#failures++;
    if (at === "listing") this.listsFailSince ??= this.#clock.monotonic();
    const status = statusOf(end);
    // A right to list without one to watch is enough to follow, by lists.
    this.isRefused ||= status === 404 || (status === 403 && at !== "watching");
    const phase = at === "listing" ? "list" : "watch";
    const message = this.#messageOf(end);
    this.lastError = { message, at: this.#clock.now(), phase };
    // The text is all that a response of the server has: its stack shows only this package.
    const hasStack = end.kind === "failed" && status === undefined;
    this.#log(phase, message, hasStack ? { err: end.error } : { reason: message });
  }

  endOfRun(): void {
    this.#recentWatches = [];
  }

  /** Whether the server was heard lately. */
  get isFresh(): boolean {
    return this.#clock.monotonic() - (this.heardAt ?? 0) < FRESH;
  }

  /** The facts for the next step. */
  facts(): Pick<StepFacts, "sinceList" | "silentFor" | "watches"> {
    const now = this.#clock.monotonic();
    this.#recentWatches = this.#recentWatches.filter((at) => now - at < WATCH_PERIOD);
    return {
      sinceList: now - this.#listEndedAt,
      silentFor: now - (this.heardAt ?? now),
      watches: this.#recentWatches.length,
    };
  }

  /** One failure is routine: servers restart, connections break. */
  #log(phase: "list" | "watch", message: string, cause: object): void {
    const { hooks, details } = this.#options;
    const text = `${phase} failed; retrying`;
    if (this.#failures === 1) {
      hooks.log("debug", { ...details, phase, ...cause }, text);
      return;
    }
    const more = this.#lines.detailsOf(phase, message);
    if (more !== undefined) hooks.log("warn", { ...details, phase, ...cause, ...more }, text);
  }

  #messageOf(end: SessionEnd): string {
    if (end.kind === "busy") return `server busy, retry after ${end.after} ms`;
    if (end.kind === "failed") return messageOf(end.error);
    return `no byte for ${this.#options.idleTimeout} ms`;
  }
}

function statusOf(end: SessionEnd): number | undefined {
  return end.kind === "failed" ? findError(end.error, ApiError)?.status : undefined;
}
