/** The request that a pass is about: a list that is followed by a watch, or a watch alone. */
export type Phase = "list" | "watch";

/** How a pass ended. */
export type PassEnd =
  /** The server closed the watch. */
  | { readonly kind: "closed" }
  /** No byte came for the idle timeout. */
  | { readonly kind: "idle" }
  /** 410: the server's history does not reach back to our version. */
  | { readonly kind: "expired" }
  /** 429 or 503, with the milliseconds after which the server wants the request again. */
  | { readonly kind: "busy"; readonly after: number }
  /** Any other error. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** A version of the server is below ours: it was put back to an older state. */
  | { readonly kind: "went-back" }
  /** The watch has passed an own write and not shown it. */
  | { readonly kind: "lost-write" }
  /** A list was asked for: by `relistEvery`, or by code of this process. */
  | { readonly kind: "relist" };

/** The facts that a decision needs beside the end of the pass. */
export interface PassFacts {
  /** The request that the pass ended in. */
  readonly phase: Phase;
  /** Whether its watch brought an event or a bookmark, or was open for 5 s. */
  readonly isHealthy: boolean;
  /** How many closed watches in a row before this one were not healthy. */
  readonly barren: number;
  /** Milliseconds since the last list ended, successful or not. */
  readonly sinceList: number;
  /** How many watches were asked for within the last 10 s. */
  readonly watches: number;
}

/** The pass that follows. */
export interface NextPass {
  readonly begin: Phase;
  /** Whether to compare the server's version with ours before a watch. */
  readonly probe: boolean;
  /** Milliseconds named by the server, or the next delay of the ladder. */
  readonly delay: "none" | "ladder" | number;
  /** Whether the ladder starts over, before this delay. */
  readonly startsOver: boolean;
  /** See {@link PassFacts.barren}. */
  readonly barren: number;
}

/** A watch that was open as long as this, in milliseconds, is healthy. */
export const HEALTHY_AFTER = 5_000;

/** Period over which watches are counted, in milliseconds. */
export const CROWD_PERIOD = 10_000;

/** More watches than this within {@link CROWD_PERIOD} wait, with or without events. */
const MAX_WATCHES = 5;

/** After so many barren watches the server may be one that closes in place of a 410. */
const MAX_BARREN = 3;

/** A 410 so soon after a list, in milliseconds, waits. */
const YOUNG_LIST = 10_000;

type FollowUp = Pick<NextPass, "begin" | "probe" | "delay"> & { readonly barren?: number };

/** Decides the step after a pass. */
export function decidePass(end: PassEnd, facts: PassFacts): NextPass {
  const isCrowded = facts.watches >= MAX_WATCHES;
  const { begin, probe, delay, barren = facts.barren } = followUp(end, facts);
  return {
    begin,
    probe,
    delay: delay === "none" && isCrowded ? "ladder" : delay,
    startsOver: facts.isHealthy && !isCrowded,
    barren: begin === "list" ? 0 : barren,
  };
}

function followUp(end: PassEnd, facts: PassFacts): FollowUp {
  const { phase, sinceList } = facts;
  switch (end.kind) {
    case "closed":
      return afterClose(facts);
    case "idle":
      // A watch took its time. A list that hangs is not asked for faster because of that.
      return { begin: phase, probe: false, delay: phase === "list" ? "ladder" : "none" };
    case "expired": {
      const isYoung = phase === "list" || sinceList < YOUNG_LIST;
      return { begin: "list", probe: false, delay: isYoung ? "ladder" : "none" };
    }
    case "busy":
      return { begin: phase, probe: false, delay: end.after };
    case "failed":
      return { begin: phase, probe: phase === "watch", delay: "ladder" };
    case "went-back":
    case "lost-write":
    case "relist":
      return { begin: "list", probe: false, delay: "none" };
  }
}

function afterClose({ isHealthy, barren }: PassFacts): FollowUp {
  if (isHealthy) return { begin: "watch", probe: false, delay: "none", barren: 0 };
  const begin = barren + 1 < MAX_BARREN ? "watch" : "list";
  return { begin, probe: false, delay: "ladder", barren: barren + 1 };
}
