import { FakeClock } from "@holdfast/clock/testing";
import { BinaryExponentialBackoff, seededRandom } from "@holdfast/wait/strategies";
import { Channel } from "./channel.ts";
import { ethernet } from "./medium.ts";
import { efficiency } from "./metcalfe-boggs.ts";
import { station } from "./station.ts";
import { Tally } from "./tally.ts";

/** The numbers of stations for which Metcalfe and Boggs tabulate their formula. */
export const STATIONS: readonly number[] = [1, 2, 3, 4, 5, 10, 32, 64, 128, 256];

/** One network, and how long to watch it. */
export interface Scenario {
  readonly stations: number;
  /** The length of every frame. */
  readonly bytes: number;
  /** In milliseconds. */
  readonly duration: number;
  readonly seed: number;
}

/** The result of a {@link Scenario}. Shares are from 0 to 1. */
export interface Measurement extends Scenario {
  /** The share of the time in which frames got through, by the formula of the textbooks. */
  readonly formula: number;
  /** The same share, measured. */
  readonly efficiency: number;
  readonly offered: number;
  readonly delivered: number;
  readonly dropped: number;
  /** Frames on which stations were still at work at the end. */
  readonly pending: number;
  /** The share of frames given up among those that were delivered or given up. */
  readonly dropShare: number;
  readonly collisions: number;
  /** The share of frames that came from the same station as the one before. */
  readonly repeated: number;
}

/** Runs a network of stations that always have something to send. */
export async function simulate(scenario: Scenario): Promise<Measurement> {
  const { stations, bytes, duration, seed } = scenario;
  const medium = ethernet(bytes);
  const clock = new FakeClock();
  const stop = new AbortController();
  const { signal } = stop;
  const tally = new Tally();
  const network = {
    clock,
    channel: new Channel(clock, medium, signal),
    backoff: new BinaryExponentialBackoff({ slotTime: medium.slot, random: seededRandom(seed) }),
    tally,
    signal,
  };
  await clock.run(
    async () => {
      clock.afterFunc(duration, () => stop.abort());
      await Promise.all(Array.from({ length: stations }, (_, id) => station(id, network)));
    },
    { turns: 0, maxTimers: Number.POSITIVE_INFINITY },
  );
  const { offered, delivered, dropped, collisions, repeats } = tally;
  return {
    ...scenario,
    formula: efficiency(stations, medium),
    efficiency: (delivered * medium.frame) / duration,
    offered,
    delivered,
    dropped,
    pending: offered - delivered - dropped,
    dropShare: dropped / Math.max(delivered + dropped, 1),
    collisions,
    repeated: repeats / Math.max(delivered - 1, 1),
  };
}
