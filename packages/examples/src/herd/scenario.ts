import type { Scenario } from "./simulate.ts";

/**
 * The outage that is drawn and printed.
 *
 * @param outage - milliseconds
 */
export function scenario(seed: number, outage = 10_000): Scenario {
  return { clients: 1_000, outage, workers: 10, service: 100, interval: 250, seed };
}
