import { endsWithin } from "@holdfast/wait/limit";
import { compareVersions, isOlder } from "../object/resource-version.ts";
import { currentVersion } from "./list-watch.ts";
import type { Reflector } from "./reflector.ts";

/** Time in which a watch should catch up before a list is asked for, in milliseconds. */
const CATCH_UP_TIMEOUT = 5_000;

/** A watch that has not moved for this time has nothing to bring; it may never come to the server's version. */
const QUIET_PERIOD = 1_000;

/** Lists must have failed for this time, in milliseconds, before somebody goes on without one. */
const MAX_FAILING = 15_000;

/** The list that somebody waits for. */
interface Wanted {
  readonly isListed: () => boolean;
  /** Whether a failure since then says that there is none. */
  readonly isTried: () => boolean;
}

/**
 * Resolves with true when the first list is complete, and with false when lists have failed for 15 s: for now there
 * is none. A list that takes long has not failed. Rejects with `signal.reason`.
 */
export function sync(reflector: Reflector, signal: AbortSignal): Promise<boolean> {
  const isListed = (): boolean => reflector.store.hasSynced;
  return untilListed(reflector, { isListed, isTried: () => true }, signal);
}

/**
 * Resolves with true when the store has everything that the server has now: the watch has come to the server's
 * version, or a list that was begun later is complete. It is asked for when the watch has not moved for 1 s, after
 * 5 s, and if the version is not available. Resolves with false when lists fail for 15 s from now on, or as
 * {@link sync} if none was ever complete. Rejects with `signal.reason`.
 */
export async function catchUp(reflector: Reflector, signal: AbortSignal): Promise<boolean> {
  const { history, listWatch, settings } = reflector;
  const begun = history.lists;
  const isListed = (): boolean => history.listed > begun;
  let goal: string | undefined;
  const watched = async (stop: AbortSignal): Promise<boolean> => {
    goal = await currentVersion(listWatch, settings.target, stop).catch(() => undefined);
    return goal !== undefined && (await untilReached(goal, reflector, isListed, stop));
  };
  if (await within(CATCH_UP_TIMEOUT, watched, reflector, signal)) return true;
  const before = history.lists;
  reflector.relist();
  // A server that reports its version is there: a list that has hung since an outage says nothing.
  const isTried = (): boolean => goal === undefined || history.lists > before;
  return await untilListed(reflector, { isListed, isTried }, signal);
}

/** Resolves with false when the watch does not move. */
async function untilReached(
  goal: string,
  reflector: Reflector,
  isListed: () => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, settings } = reflector;
  const isThere = (): boolean =>
    isListed() || reflector.isStopped || hasReached(store.version, goal);
  const arrived = (stop: AbortSignal): Promise<boolean> =>
    settings.progress.until(isThere, stop).then(() => true);
  let seen: string | undefined;
  do {
    seen = store.version;
    if (await within(QUIET_PERIOD, arrived, reflector, signal)) return true;
  } while (store.version !== seen);
  return false;
}

async function untilListed(
  reflector: Reflector,
  { isListed, isTried }: Wanted,
  signal: AbortSignal,
): Promise<boolean> {
  const { history, store, settings } = reflector;
  const { progress, hooks, target } = settings;
  const begun = target.clock.monotonic();
  const isFailing = (): boolean => {
    if (history.listsFailSince === undefined) return false;
    const now = target.clock.monotonic();
    // Without objects there are no old ones. With them what failed before may have been an outage that is over.
    if (!store.hasSynced && now - history.listsFailSince >= MAX_FAILING) return true;
    return now - begun >= MAX_FAILING && reflector.state === "waiting" && isTried();
  };
  const look = (): void => progress.notify();
  const timer = target.clock.afterFunc(MAX_FAILING, look, { label: "failing list" });
  try {
    await progress.until(() => isListed() || isFailing() || reflector.isStopped, signal);
  } finally {
    timer.stop();
  }
  if (isListed() || reflector.isStopped) return true;
  const remedy = store.hasSynced ? "going on with its cached objects" : "its readers wait";
  const details = { ...reflector.details, reason: history.lastError?.message };
  hooks.log("warn", details, `a kind cannot be listed; ${remedy}`);
  return false;
}

/** The result of the work, or false after the timeout. Rejects with `signal.reason`. */
async function within(
  timeout: number,
  work: (stop: AbortSignal) => Promise<boolean>,
  { settings }: Reflector,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = settings.target;
  let result = false;
  const wait = async (stop: AbortSignal): Promise<void> => {
    result = await work(stop);
  };
  return (await endsWithin(wait, timeout, { signal, clock, label: "catch up" })) && result;
}

function hasReached(version: string | undefined, goal: string): boolean {
  if (version === undefined) return false;
  return compareVersions(version, goal) !== undefined && !isOlder(version, goal);
}
