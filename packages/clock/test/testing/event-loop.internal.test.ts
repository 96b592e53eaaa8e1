import { afterEach, expect, it, vi } from "vitest";
import { eventLoop } from "../../src/testing/event-loop.ts";

const alive = vi.spyOn(process, "getActiveResourcesInfo");

afterEach(() => {
  alive.mockReset();
});

it("names every kind of resource once, and omits its own timers", () => {
  alive.mockReturnValue(["TCPSocketWrap", "Timeout", "TCPSocketWrap", "Timeout"]);
  expect(eventLoop.resources()).toEqual(["TCPSocketWrap", "Timeout"]);

  const cancels = [eventLoop.later(60_000, () => {}), eventLoop.later(60_000, () => {})];
  expect(eventLoop.resources()).toEqual(["TCPSocketWrap"]);

  cancels[0]?.();
  alive.mockReturnValue(["Timeout", "Timeout", "Timeout"]);
  expect(eventLoop.resources()).toEqual(["Timeout"]);

  alive.mockReturnValue(["TCPSocketWrap", "Timeout", "TCPSocketWrap", "Timeout"]);
  for (const cancel of cancels) cancel();
  expect(eventLoop.resources()).toEqual(["TCPSocketWrap", "Timeout"]);
});

it("omits the timer whose callback runs, and forgets it afterwards", async () => {
  alive.mockReturnValue(["Timeout"]);
  const seen = await new Promise((resolve) => {
    eventLoop.later(0, () => resolve(eventLoop.resources()));
  });
  expect(seen).toEqual([]);
  expect(eventLoop.resources()).toEqual(["Timeout"]);
});

it("passes its lateness to the callback", async () => {
  const start = performance.now();
  const late = new Promise<number>((resolve) => {
    eventLoop.later(5, resolve);
  });
  const end = performance.now() + 30;
  while (performance.now() < end);
  const lateness = await late;
  expect(lateness).toBeGreaterThanOrEqual(24);
  expect(lateness).toBeLessThan(performance.now() - start);
});

it("watches until it is cancelled", async () => {
  let calls = 0;
  const stop = eventLoop.watch(() => calls++);
  await new Promise<number>((resolve) => {
    eventLoop.later(20, resolve);
  });
  stop();
  const seen = calls;
  expect(seen).toBeGreaterThan(0);
  await new Promise<number>((resolve) => {
    eventLoop.later(20, resolve);
  });
  expect(calls).toBe(seen);
});
