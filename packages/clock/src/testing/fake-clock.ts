import {
  finite,
  type Kinds,
  notNegative,
  parsed,
  read,
  requireFinite,
  requireOptions,
} from "@holdfast/kit";
import { BaseTestClock, STALL_LIMITS } from "./base-test-clock.ts";
import type { TestClock } from "./test-clock.ts";
import { type TieOrder, Timeline } from "./timeline.ts";

export const FAKE_CLOCK_OPTIONS: Kinds<FakeClockOptions> = {
  now: finite,
  ties: parsed("ties"),
  stallMs: notNegative,
  externalMs: notNegative,
};

/** 2000-01-01T00:00:00Z, as in Go's synctest. */
const WALL_START = 946_684_800_000;

/** Far from the wall clock, so that confusing the two shows at once. */
const MONOTONIC_START = 1_000_000;

/** Options for `new FakeClock`. */
export interface FakeClockOptions {
  /**
   * Initial `now()` in milliseconds since the epoch. Finite.
   *
   * @defaultValue `946_684_800_000`, the first instant of the year 2000
   */
  readonly now?: number | undefined;

  /**
   * Order of timers that are due at the same instant: as created, or shuffled by a seed to expose
   * code that relies on it. The same seed gives the same order.
   *
   * @defaultValue `"fifo"`
   */
  readonly ties?:
    | "fifo"
    | {
        /** Any finite number; its lower 32 bits count. */
        readonly seed: number;
      }
    | undefined;

  /**
   * Default of `stallMs` for every `run`, `step` and `setTime` of this clock, in real milliseconds. At
   * least 0; `Infinity` waits forever.
   *
   * @defaultValue `1000`
   */
  readonly stallMs?: number | undefined;

  /**
   * Default of `externalMs` for every `run`, `step` and `setTime` of this clock, in real milliseconds. At
   * least 0; `Infinity` waits forever.
   *
   * @defaultValue `30_000`
   */
  readonly externalMs?: number | undefined;
}

/** A fixed permutation of the numbers below 2^32 for each seed (the finalizer of MurmurHash3). */
function shuffled(seed: number): TieOrder {
  return (sequence) => {
    let hash = sequence ^ seed;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
}

function tieOrderOf(ties: FakeClockOptions["ties"]): TieOrder {
  if (ties === undefined || ties === "fifo") return (sequence) => sequence;
  requireOptions("options.ties", ties, "FakeClock", { seed: true });
  return shuffled(requireFinite("options.ties.seed", ties.seed));
}

/**
 * A clock for tests: an hour passes in a millisecond, and every run is the same.
 *
 * Start with {@link FakeClock.run}: it moves time whenever the code under test can do nothing but wait,
 * so the test does not need to know its delays. {@link FakeClock.step} moves time by an amount that the
 * test chooses.
 *
 * | | Kubernetes' `FakeClock` | this one |
 * | --- | --- | --- |
 * | order of firing | order of creation | deadlines, then order of creation |
 * | time seen by a callback | the end of the step | its own deadline |
 * | a callback that reads the clock | deadlocks | works; it may arm, stop and reset timers |
 * | `Ticker.Stop` | does nothing | removes the ticker |
 * | `Sleep` | moves time | waits, as on any clock |
 *
 * The resolution is one nanosecond. Deadlines are rounded to the nearest one, so a fractional sleep may
 * end up to half a nanosecond early; a sleep above 0 takes at least a nanosecond. `ref` and labels appear
 * in reports.
 *
 * Source: `FakeClock` of k8s.io/utils/clock/testing; `run` follows Go's testing/synctest and the
 * paused clock of tokio.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const answer = await clock.run(async () => {
 *   await clock.sleep(365 * 24 * 60 * 60 * 1000);
 *   return new Date(clock.now()).toISOString();
 * });
 * console.log(answer); // => 2000-12-31T00:00:00.000Z
 * ```
 */
export class FakeClock extends BaseTestClock implements TestClock {
  /**
   * @param options - see {@link FakeClockOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: FakeClockOptions = {}) {
    const given = read("options", options, "FakeClock", FAKE_CLOCK_OPTIONS);
    const { now: start = WALL_START, ties } = given;
    const { stallMs = STALL_LIMITS.stallMs, externalMs = STALL_LIMITS.externalMs } = given;
    super(new Timeline(MONOTONIC_START, start, tieOrderOf(ties)), { stallMs, externalMs });
  }
}
