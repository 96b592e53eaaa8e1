import { findError } from "@holdfast/clock";
import { ApiError } from "../client/api-error.ts";
import { RequestStop } from "./request-scope.ts";

/** The request that a reflector is about: a list, which a watch follows, or a watch alone. */
type RequestKind = "list" | "watch";

/** How a list and watch ended. */
export type SessionEnd =
  /** The server closed the watch: after the time that it asked for, if `isFull`. */
  | { readonly kind: "closed"; readonly isFull: boolean }
  /** No byte came for the idle timeout, or the watch outlasted the time that it asked for. */
  | { readonly kind: "idle" }
  /** 410: the server's history does not reach back to our version. */
  | { readonly kind: "expired" }
  /** 429 or 503, with the milliseconds after which the server wants the request again. */
  | { readonly kind: "busy"; readonly after: number }
  /** Any other error. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** A version of the server is below ours: it was restored from an older state. */
  | { readonly kind: "rollback" }
  /** The watch has passed an own write and not shown it. */
  | { readonly kind: "missed-write" }
  /** A list was asked for: by `relistEvery`, or by code of this process. */
  | { readonly kind: "relist" };

/** The facts that a decision needs beside the end. */
export interface StepFacts {
  /** The request that ended. The probe before a watch counts as the watch. */
  readonly request: RequestKind;
  /** Whether it ended in the probe before the watch. */
  readonly isProbe: boolean;
  /** Whether the watch brought an event or a bookmark, or was open for 5 s. */
  readonly isHealthy: boolean;
  /** Whether the watch has moved our version. */
  readonly hasAdvanced: boolean;
  /** Number of consecutive watches before this one that ended without moving our version. */
  readonly fruitless: number;
  /** See {@link NextStep.isShort}. */
  readonly isShort: boolean;
  /** Milliseconds since the last list ended, successful or not. */
  readonly sinceList: number;
  /** Milliseconds since the last event, bookmark, full watch or complete list. */
  readonly silentFor: number;
  /** Number of watches asked for within {@link WATCH_PERIOD}. */
  readonly watches: number;
}

/** The list and watch that follows. */
export interface NextStep {
  readonly request: RequestKind;
  /** Whether to compare the server's version with ours before a watch. */
  readonly probe: boolean;
  /** The next delay of the backoff, or milliseconds named by the server if they are more. */
  readonly delay: "none" | "backoff" | number;
  /** Whether the backoff begins again, before this delay. */
  readonly reset: boolean;
  /**
   * Whether the watch ends before the idle timeout. A server sends a quiet kind no bookmark: the end of a watch, at the
   * time that it asked for, then says that the server lives and has no event.
   */
  readonly isShort: boolean;
  /** See {@link StepFacts.fruitless}. */
  readonly fruitless: number;
}

/** A watch that was open as long as this, in milliseconds, is healthy. */
export const HEALTHY_AFTER = 5_000;

/** Period over which watches are counted, in milliseconds. */
export const WATCH_PERIOD = 10_000;

/** More watches than this within {@link WATCH_PERIOD} wait, with or without events. */
const MAX_WATCHES = 5;

/** After so many fruitless watches a list comes: our version may be the reason. */
const MAX_FRUITLESS = 3;

/** After such a silence, in milliseconds, a list comes, however well the watches end. */
const MAX_SILENCE = 600_000;

/** A 410 so soon after a list, in milliseconds, waits. */
const YOUNG_LIST = 10_000;

type Request = Pick<NextStep, "request" | "probe" | "delay">;

/** A `Retry-After` below this, in milliseconds, names no time: the backoff is longer. */
const MIN_BUSY = 1_000;

/** An informer waits at most this for a server that named a time, in milliseconds. */
export const MAX_BUSY = 300_000;

const LIST: Request = { request: "list", probe: false, delay: "none" };

/** Decides the step after the end of a list or a watch. */
export function nextStep(end: SessionEnd, facts: StepFacts): NextStep {
  const isCrowded = facts.watches >= MAX_WATCHES;
  const fruitless = fruitlessAfter(end, facts);
  const next = requestAfter(end, facts);
  const isStuck = fruitless >= MAX_FRUITLESS || facts.silentFor >= MAX_SILENCE;
  const request = isStuck ? "list" : next.request;
  return {
    request,
    probe: request === "watch" && next.probe,
    delay: next.delay === "none" && isCrowded ? "backoff" : next.delay,
    reset: facts.isHealthy && !isCrowded,
    isShort: request === "watch" && isQuiet(end, facts),
    fruitless: request === "list" ? 0 : fruitless,
  };
}

function requestAfter(end: SessionEnd, facts: StepFacts): Request {
  const { request, isHealthy, hasAdvanced, sinceList } = facts;
  switch (end.kind) {
    case "closed": {
      // A watch from a version of the future ends as well as a quiet one.
      const probe = end.isFull && !hasAdvanced;
      return { request: "watch", probe, delay: isHealthy ? "none" : "backoff" };
    }
    case "idle":
      // A watch took its time. A list that hangs is not asked for faster because of that.
      return { request, probe: true, delay: request === "list" ? "backoff" : "none" };
    case "expired":
      return { ...LIST, delay: request === "list" || sinceList < YOUNG_LIST ? "backoff" : "none" };
    case "busy":
      return { request, probe: true, delay: end.after };
    case "failed":
      return { request, probe: true, delay: "backoff" };
    case "rollback":
    case "missed-write":
    case "relist":
      return LIST;
  }
}

/** Whether nothing has come since a watch without a byte. */
function isQuiet(end: SessionEnd, { hasAdvanced, isShort }: StepFacts): boolean {
  return !hasAdvanced && (end.kind === "idle" || isShort);
}

/** A server that is away, or that closes a quiet watch after some seconds, says nothing about our version. */
function fruitlessAfter(end: SessionEnd, facts: StepFacts): number {
  const { request, isProbe, isHealthy, hasAdvanced, fruitless } = facts;
  if (request === "list" || hasAdvanced || (end.kind === "closed" && end.isFull)) return 0;
  const isFailure = end.kind === "failed" || end.kind === "idle";
  const isEarlyEnd = end.kind === "closed" && !isHealthy;
  return (isFailure && !isProbe) || isEarlyEnd ? fruitless + 1 : fruitless;
}

/** The end that an error is. */
export function endOf(error: unknown): SessionEnd {
  if (error instanceof RequestStop && error.kind !== "over") return { kind: error.kind };
  const found = findError(error, ApiError);
  if (found === undefined) return { kind: "failed", error };
  if (isExpired(found)) return { kind: "expired" };
  const { status, retryAfter = 0 } = found;
  const isBusy = status === 429 || status === 503;
  if (!isBusy || retryAfter < MIN_BUSY) return { kind: "failed", error };
  return { kind: "busy", after: Math.min(retryAfter, MAX_BUSY) };
}

/** An ERROR event may have a reason and no code. */
function isExpired({ status, reason }: ApiError): boolean {
  return status === 410 || reason === "Expired" || reason === "Gone";
}
