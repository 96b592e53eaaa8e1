import { FakeClock } from "@holdfast/clock/testing";
import { seededRandom } from "@holdfast/wait/strategies";
import { client } from "./client.ts";
import type { Form } from "./forms.ts";
import { type Interval, Load } from "./load.ts";
import { type Outcome, Server } from "./server.ts";

/** An outage and its clients. Durations are in milliseconds. */
export interface Scenario {
  /** All of them lose the server in the same instant, and call again at once. */
  readonly clients: number;
  /** How long the server stays down. */
  readonly outage: number;
  /** How many calls it serves at a time; others are refused at once. */
  readonly workers: number;
  /** How long it serves a call. */
  readonly service: number;
  /** Calls are counted in intervals of this length, of which an outage is a multiple. */
  readonly interval: number;
  readonly seed: number;
}

/** How a {@link Scenario} went for one form of jitter. */
export interface Measurement {
  readonly form: string;
  /** Calls while the server was down. */
  readonly inVain: number;
  /** Calls after it had come back, from then until every client was served. */
  readonly calls: number;
  /** The most calls in one interval after it had come back. */
  readonly peak: number;
  /** When the last client had been served: milliseconds after the server had come back. */
  readonly lastServed: number;
  /** From the beginning of the outage on. */
  readonly intervals: readonly Interval[];
}

/**
 * Lets the clients come back with delays of one form.
 *
 * @param mostCalls - rejects with a RangeError when there are more
 */
export async function simulate(
  form: Form,
  scenario: Scenario,
  mostCalls: number = Number.POSITIVE_INFINITY,
): Promise<Measurement> {
  const { clients, interval, seed, ...server } = scenario;
  const clock = new FakeClock();
  const start = clock.monotonic();
  const load = new Load(interval);
  let total = 0;
  const report = (outcome: Outcome): void => {
    if (++total > mostCalls) throw new RangeError(`more than ${mostCalls} calls`);
    load.count(clock.monotonic() - start, outcome);
  };
  const connection = {
    clock,
    server: new Server({ ...server, clock, report }),
    backoff: form.backoff(seededRandom(seed)),
  };
  await clock.run(() => Promise.all(Array.from({ length: clients }, () => client(connection))), {
    turns: 0,
  });
  const { intervals } = load;
  const loads = intervals.map(({ refused, accepted }) => refused + accepted);
  return {
    form: form.title,
    inVain: intervals.reduce((sum, { down }) => sum + down, 0),
    calls: loads.reduce((sum, calls) => sum + calls, 0),
    peak: Math.max(...loads),
    lastServed: clock.monotonic() - start - scenario.outage,
    intervals,
  };
}
