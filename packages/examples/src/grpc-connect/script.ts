import type { Behaviour } from "./peer.ts";

/** One behaviour of the peer, and how long it lasts. */
export interface Act {
  readonly behaviour: Behaviour;
  /** How many attempts it lets fail; one that accepts goes on until it has accepted. */
  readonly attempts: number;
}

/** Everything that can happen to an attempt; every act ends with the death of the peer. */
export const SCRIPT: readonly Act[] = [
  { behaviour: "refuse", attempts: 2 },
  { behaviour: "hang", attempts: 2 },
  { behaviour: "reset", attempts: 1 },
  { behaviour: "accept", attempts: Number.POSITIVE_INFINITY },
  { behaviour: "refuse", attempts: 2 },
  { behaviour: "accept", attempts: Number.POSITIVE_INFINITY },
];
