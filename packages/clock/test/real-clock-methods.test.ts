import { realClock } from "@holdfast/clock";
import { expect, it } from "vitest";

it("has methods that work without the object", async () => {
  const { now, monotonic, afterFunc, newTimer, sleep, sleepUntil, newTicker, timeout } = realClock;
  expect(now()).toBeGreaterThan(0);
  await sleep(1);
  await sleepUntil(monotonic() + 1);
  expect(await newTimer(1).fired).toBe(true);
  await new Promise<void>((resolve) => void afterFunc(1, resolve));
  const ticker = newTicker(1);
  expect((await ticker.next()).done).toBe(false);
  ticker.stop();
  using signal = timeout(60_000);
  expect(signal.aborted).toBe(false);
});
