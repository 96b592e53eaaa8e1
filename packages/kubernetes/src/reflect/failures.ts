import type { Clock } from "@holdfast/clock";
import { messageOf, RepeatedLines } from "@holdfast/clock/internal";
import { findApiError } from "../client/api-error.ts";
import type { Hooks } from "./hooks.ts";
import type { SessionEnd } from "./next-step.ts";
import type { ReflectorErrorStatus } from "./reflector-status.ts";

/** Options for {@link Failures}. */
export interface FailuresOptions {
  readonly clock: Clock;
  readonly idleTimeout: number;
  readonly hooks: Hooks;
  readonly resource: string;
  readonly namespace: string | undefined;
}

/** The failures of a reflector, and their log lines. */
export class Failures {
  /** Whether the server refuses to list. */
  isRefused = false;
  last: ReflectorErrorStatus | undefined = undefined;
  readonly #options: FailuresOptions;
  /** Failures since the last event, bookmark or complete list. */
  #count = 0;
  #listsSince: number | undefined = undefined;
  readonly #lines: RepeatedLines;

  constructor(options: FailuresOptions) {
    this.#options = options;
    this.#lines = new RepeatedLines(options.clock);
  }

  /** When the first list failed since the last complete one. */
  get listsSince(): number | undefined {
    return this.#listsSince;
  }

  /** A list is complete. */
  endOfLists(): void {
    this.isRefused = false;
    this.#listsSince = undefined;
  }

  /** The server was heard. */
  endOfAll(): void {
    this.#count = 0;
  }

  /**
   * Notes a failure. `"watch"` is the request for the current version in front of a watch, `"watching"` the watch itself.
   */
  note(end: SessionEnd, at: "list" | "watch" | "watching"): void {
    const { clock } = this.#options;
    this.#count++;
    if (at === "list") this.#listsSince ??= clock.monotonic();
    const status = statusOf(end);
    // A right to list without one to watch is enough to follow, by lists.
    this.isRefused ||= status === 404 || (status === 403 && at !== "watching");
    const phase = at === "list" ? "list" : "watch";
    const message = this.#messageOf(end);
    this.last = { message, at: clock.now(), phase };
    // The text is all that a response of the server has: its stack shows only this package.
    const hasStack = end.kind === "failed" && status === undefined;
    this.#log(phase, message, hasStack ? { err: end.error } : { reason: message });
  }

  /** One failure is routine: servers restart, connections break. */
  #log(phase: "list" | "watch", message: string, cause: object): void {
    const { hooks, resource, namespace } = this.#options;
    const details = { resource, namespace, phase, ...cause };
    const text = `${phase} failed; retrying`;
    if (this.#count === 1) {
      hooks.log("debug", details, text);
      return;
    }
    const more = this.#lines.detailsOf(`${phase} ${message}`);
    if (more !== undefined) hooks.log("warn", { ...details, ...more }, text);
  }

  #messageOf(end: SessionEnd): string {
    if (end.kind === "busy") return `server busy, retry after ${end.after} ms`;
    if (end.kind === "failed") return messageOf(end.error);
    return `no byte for ${this.#options.idleTimeout} ms`;
  }
}

function statusOf(end: SessionEnd): number | undefined {
  return end.kind === "failed" ? findApiError(end.error)?.statusCode : undefined;
}
