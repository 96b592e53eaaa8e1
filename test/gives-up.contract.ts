import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "./abort-listeners.ts";

/** A call that waits for its turn: one turn a second, in the order of the calls. */
type Enter = (signal: AbortSignal) => Promise<unknown>;

/** A place where calls wait for their turn, on a clock. */
export type Door = (clock: Clock) => Enter;

/** The labels of timers that a door keeps while no call waits: its next turn, and the next look of a relay. */
export const IDLE: readonly string[] = ["next turn", "due"];

const ignore = (): void => {};

const hasGivenUp = (reason: unknown): boolean =>
  reason === "gave up" || (reason instanceof Error && reason.name === "TimeoutError");

/** Callers at ten times the rate, each of which waits at most `patience` milliseconds, and then one more. */
async function overload(clock: FakeClock, enter: Enter, patience: number) {
  const { signal: shared } = new AbortController();
  const start = clock.monotonic();
  const served: number[] = [];
  const call = async (limit: AbortSignal): Promise<void> => {
    await enter(limit);
    served.push(clock.monotonic() - start);
  };
  const pending = new Set<Promise<void>>();
  for (let calls = 0; calls < 1_200; calls++) {
    const limit = new AbortController();
    const timer = clock.afterFunc(patience, () => limit.abort("gave up"));
    const done = call(limit.signal)
      .catch((reason: unknown) => expect(reason).toSatisfy(hasGivenUp))
      .finally(() => {
        timer.stop();
        pending.delete(done);
        expect(abortListeners(limit.signal)).toBe(0);
      });
    pending.add(done);
    await clock.step(100);
  }
  await clock.step(patience);
  await Promise.all(pending);
  const perMinute = [0, 1].map(
    (minute) => served.filter((at) => Math.floor(at / 60_000) === minute).length,
  );
  const last = clock.monotonic() - start;
  await Promise.all([call(shared), clock.step(1_000)]);
  return { perMinute, next: (served.at(-1) ?? Number.NaN) - last };
}

/** The rule: a call that gave up costs nobody anything. */
export function testGivesUp(doors: Readonly<Record<string, Door>>): void {
  describe.each(Object.entries(doors))("%s", (_, door) => {
    it.each([250, 3_000])("when each call waits at most %i ms", async (patience) => {
      const clock = new FakeClock();
      const { perMinute, next } = await overload(clock, door(clock), patience);
      // A caller comes each 100 ms, so a turn is taken at most that late.
      expect(perMinute.every((count) => count >= 60 && count <= 61)).toBe(true);
      expect(next).toBeLessThanOrEqual(1_000);
      expect(clock.pending().filter(({ label }) => !IDLE.includes(label ?? ""))).toEqual([]);
    });
  });

  it.each(Object.entries(doors))("%s, when a thousand give up together", async (_, door) => {
    const clock = new FakeClock();
    const enter = door(clock);
    const stop = new AbortController();
    const all = Array.from({ length: 1_000 }, () => enter(stop.signal).catch(ignore));
    await clock.step(500);
    stop.abort("gave up");
    await Promise.all(all);
    expect(abortListeners(stop.signal)).toBe(0);
    const next = vi.fn();
    void enter(new AbortController().signal).then(next);
    await clock.step(500);
    expect(next).toHaveBeenCalledOnce();
  });
}
