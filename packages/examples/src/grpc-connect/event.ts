import type { Behaviour } from "./peer.ts";

/** A change in the life of a client. `at` is a monotonic instant. */
export type ClientEvent =
  | {
      readonly type: "started";
      readonly at: number;
      readonly behaviour: Behaviour;
      readonly attempt: number;
      /** How long after `at` the next attempt starts at the earliest. */
      readonly delay: number;
    }
  | { readonly type: "accepted"; readonly at: number; readonly delay: number }
  | {
      readonly type: "failed";
      readonly at: number;
      readonly error: unknown;
      readonly delay: number;
    }
  | { readonly type: "lost"; readonly at: number };
