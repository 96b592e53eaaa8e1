import type { Clock } from "@holdfast/clock";
import { keyOf } from "@holdfast/kubernetes";
import type { DnsProvider } from "../provider/dns-provider.ts";
import { differencesBetween, isObserved } from "./desired.ts";
import type { Invariants } from "./invariants.ts";
import type { CacheVersions } from "./replica/report.ts";
import type { Replicas } from "./replicas.ts";
import type { ServerState, Truth } from "./truth.ts";

/** Maximum time to agreement after the last fault, in milliseconds. Long, so that a busy machine is not a failure. */
const TIME_LIMIT = 600_000;
const PERIOD = 500;

export interface QuietOptions {
  readonly clock: Clock;
  readonly truth: Truth;
  readonly replicas: Replicas;
  readonly provider: DnsProvider;
  readonly namespace: string;
  readonly invariants: Invariants;
}

/** Violations of the three invariants after quiet; undefined for those that hold. */
interface Problems {
  readonly records: string | undefined;
  readonly caches: string | undefined;
  readonly statuses: string | undefined;
}

/**
 * Waits until provider, caches and statuses agree with the server, and counts one check of each of the three
 * invariants. Counts a violation after a timeout.
 *
 * @param isQuiet - false ends the wait without a check
 * @returns milliseconds until all agreed; undefined if they did not
 */
export async function checkQuiet(
  options: QuietOptions,
  isQuiet: () => boolean,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { clock, invariants } = options;
  const begin = clock.monotonic();
  let problems = await problemsOf(options, signal);
  while (isQuiet() && !isAllWell(problems) && clock.monotonic() - begin < TIME_LIMIT) {
    await clock.sleep(PERIOD, { signal, label: "quiet" });
    problems = await problemsOf(options, signal);
  }
  // A difference caused by a new change is not a violation.
  if (!isQuiet()) return undefined;
  for (const name of ["records", "caches", "statuses"] as const)
    invariants.check(name, problems[name]);
  return isAllWell(problems) ? clock.monotonic() - begin : undefined;
}

function isAllWell({ records, caches, statuses }: Problems): boolean {
  return records === undefined && caches === undefined && statuses === undefined;
}

async function problemsOf(options: QuietOptions, signal: AbortSignal): Promise<Problems> {
  const { truth, provider } = options;
  let state: ServerState;
  try {
    state = await truth.read(signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `the server did not respond: ${String(error)}`;
    return { records: text, caches: text, statuses: text };
  }
  const { records, zones } = state;
  const [different] = differencesBetween(records, zones, provider.records.list());
  const unobserved = records.find((record) => !isObserved(record, zones));
  return {
    records: different && `${different} differs`,
    caches: await cacheProblem(options, state),
    statuses: unobserved && `the status of ${keyOf(unobserved)} does not match its spec`,
  };
}

async function cacheProblem({ replicas, namespace }: QuietOptions, state: ServerState) {
  const wanted = versionsOf(state, namespace);
  for (const replica of replicas.all) {
    const cached = await replica.caches();
    if (cached === undefined) return `${replica.name} did not report its caches`;
    const mine = Object.entries(cached).filter(([key]) => key.includes(` ${namespace}/`));
    if (mine.length !== Object.keys(wanted).length)
      return `${replica.name} caches ${mine.length} of ${Object.keys(wanted).length} objects`;
    const [key] = mine.find(([name, version]) => wanted[name] !== version) ?? [];
    if (key !== undefined) return `${replica.name} caches another version of ${key}`;
  }
  return undefined;
}

function versionsOf({ records, zones }: ServerState, namespace: string): CacheVersions {
  const objects = [...records, ...zones.values()];
  return Object.fromEntries(
    objects
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map((one) => [`${one.kind} ${keyOf(one)}`, one.metadata.resourceVersion]),
  );
}
