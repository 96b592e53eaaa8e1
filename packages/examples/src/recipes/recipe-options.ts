import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";

/** Options of every recipe. */
export interface RecipeOptions {
  /** Stops the recipe at once. */
  readonly signal: AbortSignal;
  /** Measures all times; `realClock` by default. */
  readonly clock?: Clock;
  /** Draws the jitter; `Math.random` by default. */
  readonly random?: Random;
  /** Receives one line per event; `console.log` by default. */
  readonly log?: (line: string) => void;
}

/** Options of a recipe that sends requests. */
export interface FetchOptions extends RecipeOptions {
  /** Sends a request; the global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch;
}
