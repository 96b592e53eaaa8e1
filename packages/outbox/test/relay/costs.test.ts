import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { Outbox } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it, vi } from "vitest";
import { Relay } from "../../src/relay/relay.ts";
import { TopicQueue } from "../../src/relay/topic-queue.ts";
import { sample } from "../sample.ts";

const MESSAGES = 20;

/** Counts what messages cost that come alone, each 50 ms after the one before. */
async function costs() {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const publisher = { publish: async () => {} };
  const relay = new Relay({ name: "a", store, publisher, clock, logger: silentLogger });
  const transaction = <Value>(work: Parameters<typeof store.transaction<Value>>[0]) =>
    store.transaction(work);
  const outbox = new Outbox({ store, transaction, onCommitted: () => relay.wake(), clock });
  const stop = new AbortController();
  const running = relay.run(stop.signal);
  await clock.step(1_000);
  const wanted = vi.spyOn(TopicQueue.prototype, "wanted");
  const timers = vi.spyOn(clock, "afterFunc");
  const listeners = vi.spyOn(EventTarget.prototype, "addEventListener");
  try {
    for (let number = 1; number <= MESSAGES; number++) {
      await outbox.transaction((tx) => outbox.save(tx, sample(number)));
      await clock.step(50);
    }
    expect((await store.counts()).delivered).toBe(MESSAGES);
    return {
      questions: wanted.mock.calls.length,
      waits: timers.mock.calls.filter(([, , options]) => options?.label === "due").length,
      listeners: listeners.mock.calls.length,
    };
  } finally {
    vi.restoreAllMocks();
    stop.abort();
    await clock.run(() => running);
    expect(clock.waiters()).toBe(0);
  }
}

it("a message that comes alone has two questions to the queue, no timer of a wait, and no listener of its own", async () => {
  expect(await costs()).toEqual({ questions: 2 * MESSAGES, waits: 0, listeners: 0 });
});
