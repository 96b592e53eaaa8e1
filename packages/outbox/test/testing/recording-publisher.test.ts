import { FakeClock } from "@holdfast/clock/testing";
import { RecordingPublisher } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { testPublisher } from "../publisher.contract.ts";
import { sampleMessage } from "../sample-message.ts";

const { signal } = new AbortController();

testPublisher("RecordingPublisher", async () => {
  let hangs = false;
  const publisher = new RecordingPublisher({
    respond: async ({ topic }) => {
      if (hangs) await new Promise(() => {});
      if (topic === "refused") throw new Error("refused");
    },
  });
  return {
    publisher,
    topic: "accepted",
    refused: "refused",
    deliveries: async () => publisher.confirmed.map(({ id, payload }) => ({ id, payload })),
    hang: () => {
      hangs = true;
    },
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
});

describe("RecordingPublisher", () => {
  it("records each attempt with its instant, and confirmations in their order", async () => {
    const clock = new FakeClock();
    const [a, b, c] = [sampleMessage(), sampleMessage(), sampleMessage()];
    await clock.step(500);
    const publisher = new RecordingPublisher({
      clock,
      respond: async ({ id }) => {
        if (id === a.id) await clock.sleep(100);
        if (id === c.id) throw new Error("refused");
      },
    });
    const outcomes = [errorOf(publisher.publish(a, signal))];
    await clock.step(30);
    outcomes.push(...[b, c].map((message) => errorOf(publisher.publish(message, signal))));
    await clock.step(1_000);
    expect(await Promise.all(outcomes)).toEqual([undefined, undefined, new Error("refused")]);
    expect(publisher.attempts).toEqual([
      { message: a, at: 0 },
      { message: b, at: 30 },
      { message: c, at: 30 },
    ]);
    expect(publisher.confirmed).toEqual([b, a]);
  });

  it("waits for its delay before it settles, and counts pending attempts", async () => {
    const clock = new FakeClock();
    const publisher = new RecordingPublisher({ clock, delay: 50 });
    const first = publisher.publish(sampleMessage(), signal);
    await clock.step(49);
    const second = publisher.publish(sampleMessage(), signal);
    expect([publisher.inFlight, publisher.confirmed.length]).toEqual([2, 0]);
    await clock.step(1);
    await first;
    expect([publisher.inFlight, publisher.confirmed.length]).toEqual([1, 1]);
    await clock.step(49);
    await second;
    expect([publisher.inFlight, publisher.maxInFlight]).toEqual([0, 2]);
    const third = publisher.publish(sampleMessage(), signal);
    expect([publisher.inFlight, publisher.maxInFlight]).toEqual([1, 2]);
    await clock.step(50);
    await third;
    expect(clock.waiters()).toBe(0);
  });

  it.each([
    ["delay", 50, 0],
    ["response", 0, 50],
  ])("does not confirm an attempt that was aborted during its %s", async (_, delay, rest) => {
    const clock = new FakeClock();
    const publisher = new RecordingPublisher({ clock, delay, respond: () => clock.sleep(rest) });
    const stop = new AbortController();
    const outcome = errorOf(publisher.publish(sampleMessage(), stop.signal));
    await clock.step(20);
    stop.abort("enough");
    expect(await outcome).toBe("enough");
    await clock.step(100);
    expect(clock.waiters()).toBe(0);
    expect([publisher.attempts.length, publisher.confirmed.length]).toEqual([1, 0]);
    expect(publisher.inFlight).toBe(0);
  });
});
