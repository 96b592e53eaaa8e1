import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { Recovery, Relay, Retention } from "@holdfast/outbox";
import { OpenTelemetryOutboxMetrics } from "@holdfast/outbox/opentelemetry";
import { OutboxMetrics } from "@holdfast/outbox/prometheus";
import { MemoryStore, RecordingPublisher } from "@holdfast/outbox/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { keptBy, newMeter } from "../../../../test/metric-samples.ts";
import { numberOf, sample } from "../sample.ts";

class World {
  readonly clock = new FakeClock();
  readonly memory = new MemoryStore();
  isAway = false;
  readonly store = {
    backlog: async () => {
      if (this.isAway) throw new Error("away");
      return await this.memory.backlog();
    },
    nextDue: () => this.memory.nextDue(),
    oldest: () => this.memory.oldest(),
    restriction: async () => "row level security",
  };

  /** A relay that delivers two messages and gives a third up, and a recovery and a retention. */
  async run({ onEvent }: Pick<OutboxMetrics, "onEvent">): Promise<void> {
    const { clock, memory: store } = this;
    const schedule = { backoff: { duration: 10_000, factor: 1 }, maxAttempts: 2 };
    await store.transaction(async (tx) => {
      for (const number of [1, 2, 3]) await store.save(tx, sample(number, schedule), clock.now());
    });
    const publisher = new RecordingPublisher({
      clock,
      respond: ({ id }) => {
        if (numberOf(id) === 3) throw new Error("refused");
      },
    });
    const common = { store, onEvent, clock, jitter: 0, logger: silentLogger };
    const lock = new MemoryLock();
    const stop = new AbortController();
    const runs = [
      new Relay({ name: "relay", publisher, ...common }).run(stop.signal),
      new Recovery({ name: "recovery", lock, ...common }).run(stop.signal),
      new Retention({ name: "retention", lock, olderThan: 60_000, ...common }).run(stop.signal),
    ];
    await clock.step(180_000);
    onEvent({ type: "clock", ahead: -250, isTolerated: true });
    onEvent({ type: "listening", isListening: true });
    onEvent({ type: "paused", topic: "orders.paid" });
    stop.abort();
    await clock.run(() => Promise.all(runs));
    await store.transaction((tx) => store.save(tx, sample(4), clock.now()));
    await clock.step(1_500);
  }
}

it("holds what a registry of prom-client holds after the same run, and while the store is away", async () => {
  const { meter, collect } = newMeter();
  const register = new Registry();
  const [one, other] = [new World(), new World()];
  await one.run(new OpenTelemetryOutboxMetrics({ store: one.store, clock: one.clock, meter }));
  await other.run(new OutboxMetrics({ store: other.store, clock: other.clock, register }));
  const found = await collect();
  expect(found).toEqual(await keptBy(register));
  expect(found).toHaveLength(15);
  const lines = found.flatMap(({ samples }) => samples);
  expect(lines).toContain("outbox_oldest_age_seconds{} 1.5");
  expect(lines).toContain("outbox_clock_ahead_seconds{} -0.25");
  one.isAway = other.isAway = true;
  const without = await collect();
  expect(without).toEqual(await keptBy(register));
  const gone = found.filter(({ name }) => !without.some((each) => each.name === name));
  expect(gone.map(({ name }) => name)).toEqual([
    "outbox_messages",
    "outbox_oldest_age_seconds",
    "outbox_oldest_due_age_seconds",
    "outbox_restricted",
  ]);
});
