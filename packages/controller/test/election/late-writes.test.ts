import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, MemoryLock, silentLogger } from "@holdfast/controller";
import { expect, it } from "vitest";

/** How two electors with the default times lead for an hour, if each write is carried out and answered late. */
async function ledWith(late: number): Promise<{ readonly terms: number; readonly share: number }> {
  const clock = new FakeClock();
  const lock = new MemoryLock();
  const { signal: never } = new AbortController();
  const write = <Written>(run: () => Promise<Written>, signal: AbortSignal): Promise<Written> => {
    const done = clock.sleep(late).then(run); // also when its caller has given it up
    return new Promise((resolve, reject) => {
      done.then(resolve, reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  };
  const slow = {
    description: "slow",
    get: (signal: AbortSignal) => lock.get(signal),
    create: (...[record, signal]: Parameters<MemoryLock["create"]>) =>
      write(() => lock.create(record, never), signal),
    update: (...[record, version, signal]: Parameters<MemoryLock["update"]>) =>
      write(() => lock.update(record, version, never), signal),
  };
  let [terms, leaders, most, led] = [0, 0, 0, 0];
  const lead = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const since = clock.monotonic();
    terms++;
    most = Math.max(most, ++leaders);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    leaders--;
    led += clock.monotonic() - since;
  };
  const stop = new AbortController();
  const running = ["a", "b"].map((identity) => {
    const options = { identity, clock, lead, logger: silentLogger, random: () => 0.5 };
    return new LeaderElector({ ...options, lock: slow }).run(stop.signal);
  });
  await clock.step(3_600_000);
  stop.abort();
  await clock.run(() => Promise.all(running));
  expect(most).toBeLessThanOrEqual(1);
  return { terms, share: Math.round((100 * led) / 3_600_000) };
}

// A write names the version of the one before, and a term is counted from before its last write: two writes, one after
// the other, have to fit into a renew deadline of 10 s.
it.each([
  [2_000, { terms: 1, share: 100 }],
  [4_000, { terms: 1, share: 100 }],
  [4_900, { terms: 1, share: 100 }],
  [5_000, { terms: 198, share: 10 }],
  [8_000, { terms: 198, share: 10 }],
  [9_000, { terms: 0, share: 0 }],
])("with writes that are carried out %i ms late", async (late, expected) => {
  expect(await ledWith(late)).toEqual(expected);
});
