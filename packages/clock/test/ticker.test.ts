import { BaseClock, type Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";

/** A clock whose time passes while code runs, as on a busy machine: its timers come late. */
class BusyClock extends BaseClock {
  readonly inner = new FakeClock();
  #lag = 0;

  override now(): number {
    return this.inner.now() + this.#lag;
  }

  override monotonic(): number {
    return this.inner.monotonic() + this.#lag;
  }

  override afterFunc(delay: number, fire: () => void): Timer {
    return this.inner.afterFunc(delay, fire);
  }

  work(ms: number): void {
    this.#lag += ms;
  }
}

describe("a ticker", () => {
  it("counts the points it missed as dropped ticks, and stays on its grid", async () => {
    const clock = new BusyClock();
    const start = clock.monotonic();
    const ticker = clock.newTicker(10);
    const seen: number[] = [];
    await clock.inner.run(async () => {
      for await (const at of ticker) {
        seen.push(at - start);
        if (seen.length === 1) clock.work(35);
        if (seen.length === 4) break;
      }
    });
    expect(seen).toEqual([10, 55, 60, 70]);
    expect(ticker.dropped).toBe(3);
  });

  it("stays on its grid over 100,000 periods of a third of a millisecond", () => {
    const clock = new FakeClock();
    const period = 1 / 3;
    const ticker = clock.newTicker(period);
    clock.stepSync(33_333);
    expect(ticker.dropped).toBe(99_998);
    expect(clock.pending()[0]?.deadline).toBeCloseTo(1_000_000 + 100_000 * period, 5);
  });
});
