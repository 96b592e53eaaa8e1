import type { Clock } from "@holdfast/clock";
import { keyOf } from "@holdfast/kubernetes";
import type { DnsProvider } from "../provider/dns-provider.ts";
import type { Crew } from "./crew.ts";
import { differencesBetween, isObserved } from "./desired.ts";
import type { Invariants } from "./invariants.ts";
import type { CacheVersions } from "./replica/report.ts";
import type { ServerState, Truth } from "./truth.ts";

/** How long all may take to be equal after the last fault, in milliseconds: a busy machine is no fault. */
const PATIENCE = 600_000;
const PERIOD = 500;

export interface QuietOptions {
  readonly clock: Clock;
  readonly truth: Truth;
  readonly crew: Crew;
  readonly provider: DnsProvider;
  readonly namespace: string;
  readonly invariants: Invariants;
}

/** What is not as it must be when nothing goes wrong any more; undefined for what is. */
interface Problems {
  readonly records: string | undefined;
  readonly caches: string | undefined;
  readonly statuses: string | undefined;
}

/**
 * Waits until provider, caches and statuses agree with the server, and counts that as a check of the three
 * invariants; as a violation if it does not come to pass in time.
 *
 * @param isQuiet - false ends the wait without a verdict
 * @returns how long it took in milliseconds; undefined if it did not come to pass
 */
export async function checkQuiet(
  options: QuietOptions,
  isQuiet: () => boolean,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { clock, invariants } = options;
  const begin = clock.monotonic();
  let problems = await problemsOf(options, signal);
  while (isQuiet() && !isAllWell(problems) && clock.monotonic() - begin < PATIENCE) {
    await clock.sleep(PERIOD, { signal, label: "quiet" });
    problems = await problemsOf(options, signal);
  }
  // What differs because somebody has changed something meanwhile is no violation.
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
    const text = `the server does not answer: ${String(error)}`;
    return { records: text, caches: text, statuses: text };
  }
  const { records, zones } = state;
  const [different] = differencesBetween(records, zones, provider.records.list());
  const unobserved = records.find((record) => !isObserved(record, zones));
  return {
    records: different && `${different} differs`,
    caches: await cacheProblem(options, state),
    statuses: unobserved && `the status of ${keyOf(unobserved)} is not about its spec`,
  };
}

async function cacheProblem({ crew, namespace }: QuietOptions, state: ServerState) {
  const wanted = versionsOf(state, namespace);
  for (const replica of crew.replicas) {
    const cached = await replica.caches();
    if (cached === undefined) return `${replica.name} has told nothing of its caches`;
    const mine = Object.entries(cached).filter(([key]) => key.includes(` ${namespace}/`));
    if (mine.length !== Object.keys(wanted).length)
      return `${replica.name} has ${mine.length} objects of ${Object.keys(wanted).length}`;
    const [key] = mine.find(([name, version]) => wanted[name] !== version) ?? [];
    if (key !== undefined) return `${replica.name} has another version of ${key}`;
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
