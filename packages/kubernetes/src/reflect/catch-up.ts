import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { compareVersions, isOlder } from "../object/resource-version.ts";
import { currentVersion } from "./list-watch.ts";
import type { Reflector } from "./reflector.ts";

/** Time in which a watch should catch up before a list is asked for, in milliseconds. */
const CATCH_UP_TIMEOUT = 5_000;

/** A watch that has not moved for this time has nothing to bring; it may never come to the server's version. */
const QUIET_PERIOD = 1_000;

/** Lists must have failed for this time, in milliseconds, before somebody goes on without one. */
const MAX_FAILING = 15_000;

/**
 * Resolves with true when the first list is complete, and with false when lists have failed for 15 s: for now there
 * is none. A list that takes long has not failed. Rejects with `signal.reason`.
 */
export function sync(reflector: Reflector, signal: AbortSignal): Promise<boolean> {
  return untilListed(reflector, () => reflector.store.hasSynced, signal);
}

/**
 * Resolves with true when the store has everything that the server has now: the watch has come to the server's
 * version, or a list that was begun later is complete. It is asked for when the watch has not moved for 1 s, after
 * 5 s, and if the version is not available. Resolves with false when lists fail instead, see {@link sync}. Rejects
 * with `signal.reason`.
 */
export async function catchUp(reflector: Reflector, signal: AbortSignal): Promise<boolean> {
  const begun = reflector.history.lists;
  const isListed = (): boolean => reflector.history.listed > begun;
  const watched = (stop: AbortSignal): Promise<boolean> => untilWatched(reflector, isListed, stop);
  if (await within(CATCH_UP_TIMEOUT, watched, reflector, signal)) return true;
  reflector.relist();
  return await untilListed(reflector, isListed, signal);
}

/** Resolves with false when the watch does not move, or has no version to come to. */
async function untilWatched(
  reflector: Reflector,
  isListed: () => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, settings } = reflector;
  const goal = await currentVersion(reflector.listWatch, settings.target, signal).catch(
    () => undefined,
  );
  if (goal === undefined) return false;
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
  isListed: () => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { history, store, settings } = reflector;
  const { progress, hooks, target } = settings;
  const begun = target.clock.monotonic();
  const isFailing = (): boolean => {
    if (history.listsFailSince === undefined) return false;
    const now = target.clock.monotonic();
    const isLong = now - history.listsFailSince >= MAX_FAILING;
    return isLong || (now - begun >= MAX_FAILING && reflector.state === "waiting");
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
  try {
    return await withTimeout(work, timeout, { signal, clock, label: "catch up" });
  } catch (error) {
    if (signal.aborted || !isTimeoutError(error)) throw error;
    return false;
  }
}

function hasReached(version: string | undefined, goal: string): boolean {
  if (version === undefined) return false;
  return compareVersions(version, goal) !== undefined && !isOlder(version, goal);
}
