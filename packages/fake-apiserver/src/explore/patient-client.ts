import type { Clock } from "@holdfast/clock";
import { isApiError, type KubeClient } from "@holdfast/kubernetes";
import { retry } from "@holdfast/wait";

/** Milliseconds between two attempts, and until the last one. */
const PERIOD = 1_000;
const PATIENCE = 600_000;

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** The numbers of the calls of a scenario that succeed without a fault. */
export type KnownCalls = Set<number>;

/**
 * The client of a scenario. In a world with faults an operator may be late: a call for an object that is there without
 * a fault waits for it, as a user would.
 *
 * @param known - the calls of the first world, which fills it
 */
export function patientClient(client: KubeClient, clock: Clock, known: KnownCalls): KubeClient {
  const isFirst = known.size === 0;
  let count = 0;
  const call = async (method: Call): Promise<unknown> => {
    const number = ++count;
    const value = await retry(method, {
      clock,
      retries: Number.POSITIVE_INFINITY,
      maxElapsed: PATIENCE,
      delay: () => PERIOD,
      shouldRetry: ({ error }) => !isFirst && known.has(number) && isApiError(error, "NotFound"),
    });
    if (isFirst) known.add(number);
    return value;
  };
  return new Proxy(client, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const method = value as Call;
      if (property === "list") return method.bind(target);
      return (...args: readonly unknown[]) => call(() => method.apply(target, [...args]));
    },
  });
}
