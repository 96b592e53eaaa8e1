import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { type OutboxEvent, Recovery, Relay, Retention } from "@holdfast/outbox";
import { OutboxMetrics, type OutboxMetricsOptions } from "@holdfast/outbox/prometheus";
import type { Claim } from "@holdfast/outbox/store";
import { MemoryStore, RecordingPublisher } from "@holdfast/outbox/testing";
import { Counter, register as globalRegister, Registry } from "prom-client";
import { describe, expect, it, vi } from "vitest";
import { numberOf, sample } from "../sample.ts";
import { sampleMessage } from "../sample-message.ts";

const UNTOUCHED = `# HELP outbox_messages Messages that are pending, retrying or dead, by status; 10000 stands for as many or more
# TYPE outbox_messages gauge
outbox_messages{status="pending"} 0
outbox_messages{status="retrying"} 0
outbox_messages{status="dead"} 0

# HELP outbox_oldest_due_age_seconds Seconds that the oldest due message has waited, 0 if none is due
# TYPE outbox_oldest_due_age_seconds gauge
outbox_oldest_due_age_seconds 0

# HELP outbox_oldest_age_seconds Seconds since the oldest message that is neither delivered nor dead was saved, 0 without one
# TYPE outbox_oldest_age_seconds gauge
outbox_oldest_age_seconds 0

# HELP outbox_store_up Whether the store responded to this scrape: 1 or 0
# TYPE outbox_store_up gauge
outbox_store_up 1

# HELP outbox_attempts_total Number of attempts that have ended, by outcome
# TYPE outbox_attempts_total counter
outbox_attempts_total{outcome="delivered"} 0
outbox_attempts_total{outcome="failed"} 0
outbox_attempts_total{outcome="dead"} 0
outbox_attempts_total{outcome="expired"} 0
outbox_attempts_total{outcome="lost"} 0
outbox_attempts_total{outcome="unwritten"} 0
outbox_attempts_total{outcome="released"} 0

# HELP outbox_topic_attempts_total Number of attempts that have ended, by topic and outcome
# TYPE outbox_topic_attempts_total counter

# HELP outbox_topic_held Whether the relay of this process holds the topic: 1 or 0
# TYPE outbox_topic_held gauge

# HELP outbox_claimed_total Number of messages that were claimed
# TYPE outbox_claimed_total counter
outbox_claimed_total 0

# HELP outbox_claim_duration_seconds Seconds that a request for messages took
# TYPE outbox_claim_duration_seconds histogram
outbox_claim_duration_seconds_bucket{le="0.001"} 0
outbox_claim_duration_seconds_bucket{le="0.0025"} 0
outbox_claim_duration_seconds_bucket{le="0.005"} 0
outbox_claim_duration_seconds_bucket{le="0.01"} 0
outbox_claim_duration_seconds_bucket{le="0.025"} 0
outbox_claim_duration_seconds_bucket{le="0.05"} 0
outbox_claim_duration_seconds_bucket{le="0.1"} 0
outbox_claim_duration_seconds_bucket{le="0.25"} 0
outbox_claim_duration_seconds_bucket{le="0.5"} 0
outbox_claim_duration_seconds_bucket{le="1"} 0
outbox_claim_duration_seconds_bucket{le="2.5"} 0
outbox_claim_duration_seconds_bucket{le="5"} 0
outbox_claim_duration_seconds_bucket{le="10"} 0
outbox_claim_duration_seconds_bucket{le="+Inf"} 0
outbox_claim_duration_seconds_sum 0
outbox_claim_duration_seconds_count 0

# HELP outbox_invalid_rows_total Number of rows that are not messages
# TYPE outbox_invalid_rows_total counter
outbox_invalid_rows_total 0

# HELP outbox_removed_total Number of delivered messages that were removed
# TYPE outbox_removed_total counter
outbox_removed_total 0

# HELP outbox_store_errors_total Number of requests to the store that have failed
# TYPE outbox_store_errors_total counter
outbox_store_errors_total 0

# HELP outbox_clock_ahead_seconds Seconds that the clock of this process is ahead of that of the database
# TYPE outbox_clock_ahead_seconds gauge

# HELP outbox_listening Whether the relay hears of messages that other processes save: 1, or 0 if it only polls
# TYPE outbox_listening gauge
`;

const claim: Claim = { message: sampleMessage(), relay: "relay", number: 1, until: 0 };
const failure = { now: 0, error: "503", dueAt: 10_000 };
const final = { ...failure, dueAt: undefined };

function metricsOf(options: Partial<OutboxMetricsOptions> = {}) {
  const register = new Registry();
  const metrics = new OutboxMetrics({ store: new MemoryStore(), register, ...options });
  /** The samples that are not 0, without buckets. */
  const samples = async (): Promise<readonly string[]> => {
    const lines = (await register.metrics()).split("\n");
    return lines.filter((line) => line !== "" && !/^#|_bucket\{| 0$/.test(line));
  };
  return { register, metrics, samples };
}

describe("OutboxMetrics", () => {
  it("exist from the start, with zeros", async () => {
    const { register } = metricsOf();
    expect(await register.metrics()).toBe(UNTOUCHED);
  });

  it("have no age without a message, however fast time passes", async () => {
    const clock = new FakeClock();
    let now = clock.now();
    vi.spyOn(clock, "now").mockImplementation(() => now++);
    const { register } = metricsOf({ clock });
    expect(await register.metrics()).toBe(UNTOUCHED);
  });

  it("count each event once, under its outcome", async () => {
    const { metrics, samples } = metricsOf();
    const events: OutboxEvent[] = [
      { type: "claimed", count: 3, duration: 20 },
      { type: "claimed", count: 0, duration: 5 },
      { type: "delivered", claim },
      { type: "delivered", claim },
      { type: "failed", claim, failure },
      { type: "dead", claim, failure: final },
      { type: "expired", claim, failure },
      { type: "expired", claim, failure: final },
      { type: "dead", claim, failure: final },
      { type: "lost", claim },
      { type: "unwritten", claim, error: new Error("away") },
      { type: "released", claim },
      { type: "invalid", row: { id: "1", problem: "no JSON" } },
      { type: "removed", count: 250 },
      { type: "error", error: new Error("away") },
    ];
    for (const event of events) metrics.onEvent(event);
    expect(await samples()).toEqual([
      "outbox_store_up 1",
      'outbox_attempts_total{outcome="delivered"} 2',
      'outbox_attempts_total{outcome="failed"} 1',
      'outbox_attempts_total{outcome="dead"} 2',
      'outbox_attempts_total{outcome="expired"} 1',
      'outbox_attempts_total{outcome="lost"} 1',
      'outbox_attempts_total{outcome="unwritten"} 1',
      'outbox_attempts_total{outcome="released"} 1',
      ...[
        ["delivered", 2],
        ["failed", 1],
        ["dead", 2],
        ["expired", 1],
        ["lost", 1],
        ["unwritten", 1],
        ["released", 1],
      ].map(([o, n]) => `outbox_topic_attempts_total{topic="orders.paid",outcome="${o}"} ${n}`),
      "outbox_claimed_total 3",
      "outbox_claim_duration_seconds_sum 0.025",
      "outbox_claim_duration_seconds_count 2",
      "outbox_invalid_rows_total 1",
      "outbox_removed_total 250",
      "outbox_store_errors_total 1",
    ]);
  });

  it("follow a relay, a recovery and a retention", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    const { metrics, samples } = metricsOf({ store, clock });
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
    const { onEvent } = metrics;
    const common = { store, onEvent, clock, jitter: 0, logger: silentLogger };
    const lock = new MemoryLock();
    const stop = new AbortController();
    const runs = [
      new Relay({ name: "relay", publisher, ...common }).run(stop.signal),
      new Recovery({ name: "recovery", lock, ...common }).run(stop.signal),
      new Retention({ name: "retention", lock, olderThan: 60_000, ...common }).run(stop.signal),
    ];
    await clock.step(180_000);
    stop.abort();
    await clock.run(() => Promise.all(runs));
    expect(await samples()).toEqual([
      'outbox_messages{status="dead"} 1',
      "outbox_store_up 1",
      'outbox_attempts_total{outcome="delivered"} 2',
      'outbox_attempts_total{outcome="failed"} 1',
      'outbox_attempts_total{outcome="dead"} 1',
      'outbox_topic_attempts_total{topic="orders.paid",outcome="failed"} 1',
      'outbox_topic_attempts_total{topic="orders.paid",outcome="delivered"} 2',
      'outbox_topic_attempts_total{topic="orders.paid",outcome="dead"} 1',
      "outbox_claimed_total 4",
      expect.stringMatching(/^outbox_claim_duration_seconds_count \d+$/),
      "outbox_removed_total 2",
    ]);
  });

  it("have a label for the topics that come first, and one for all others", async () => {
    const { metrics, samples } = metricsOf({ topicLabels: 2 });
    const deliver = (topic: string): void =>
      metrics.onEvent({
        type: "delivered",
        claim: { ...claim, message: sampleMessage({ topic }) },
      });
    for (const topic of ["a", "b", "c", "d", "a"]) deliver(topic);
    for (const topic of ["b", "c"]) metrics.onEvent({ type: "opened", topic, openFor: 1 });
    metrics.onEvent({ type: "paused", topic: "a" });
    const held = async () => (await samples()).filter((line) => line.includes("topic"));
    expect(await held()).toEqual([
      'outbox_topic_attempts_total{topic="a",outcome="delivered"} 2',
      'outbox_topic_attempts_total{topic="b",outcome="delivered"} 1',
      'outbox_topic_attempts_total{topic="(other)",outcome="delivered"} 2',
      'outbox_topic_held{topic="b",reason="open"} 1',
      'outbox_topic_held{topic="a",reason="paused"} 1',
    ]);
    metrics.onEvent({ type: "closed", topic: "b" });
    metrics.onEvent({ type: "resumed", topic: "a" });
    expect((await held()).filter((line) => line.includes("held"))).toEqual([]);
  });

  it("show the age of the oldest message of all, and leave paused topics out of those that are due", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    const { samples } = metricsOf({ store, clock });
    const save = (number: number, topic: string) =>
      store.transaction((tx) => store.save(tx, sample(number, { topic }), clock.now()));
    const ages = async () => (await samples()).filter((line) => line.includes("age_seconds"));
    await store.pause("a");
    await save(1, "a");
    await clock.step(60_000);
    await save(2, "b");
    await clock.step(5_000);
    expect(await ages()).toEqual([
      "outbox_oldest_due_age_seconds 5",
      "outbox_oldest_age_seconds 65",
    ]);
    const { claims } = await store.claim({
      relay: "r",
      now: clock.now(),
      until: clock.now(),
      limit: 1,
    });
    await store.write(claims.map((each) => ({ type: "delivered", claim: each, now: clock.now() })));
    expect(await ages()).toEqual([
      "outbox_oldest_due_age_seconds 5",
      "outbox_oldest_age_seconds 5",
    ]);
  });

  it("show the age of the oldest message that is due, in seconds", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    const { samples } = metricsOf({ store, clock });
    await store.transaction(async (tx) => {
      for (const number of [1, 2])
        await store.save(tx, sample(number), clock.now() + number * 10_000);
    });
    const pending = 'outbox_messages{status="pending"} 2';
    const ages: (readonly string[])[] = [];
    for (const step of [9_999, 1_501, 60_000]) {
      await clock.step(step);
      ages.push(await samples());
    }
    expect(ages).toEqual([
      [pending, "outbox_store_up 1"],
      ...[1.5, 61.5].map((age) => [
        pending,
        `outbox_oldest_due_age_seconds ${age}`,
        `outbox_oldest_age_seconds ${age}`,
        "outbox_store_up 1",
      ]),
    ]);
  });

  it.each(["backlog", "nextDue"] as const)(
    "show that %s failed, and omit only the samples of the store",
    async (request) => {
      const clock = new FakeClock();
      const store = new MemoryStore();
      await store.transaction((tx) => store.save(tx, sample(1), clock.now()));
      await clock.step(15_000);
      let isAway = false;
      const faulty = {
        backlog: () => store.backlog(),
        nextDue: () => store.nextDue(),
        [request]: async () => {
          if (isAway) throw new Error("away");
          return await store[request]();
        },
      };
      const { register, samples } = metricsOf({ store: faulty, clock });
      const orders = new Counter({ name: "orders_total", help: "Orders", registers: [register] });
      orders.inc();
      const there = [
        'outbox_messages{status="pending"} 1',
        "outbox_oldest_due_age_seconds 15",
        "outbox_store_up 1",
        "orders_total 1",
      ];
      expect(await samples()).toEqual(there);
      isAway = true;
      const text = await register.metrics();
      expect(
        text.split("\n").filter((line) => /^(outbox_(messages|old|store_up)|orders)/.test(line)),
      ).toEqual(["outbox_store_up 0", "orders_total 1"]);
      isAway = false;
      expect(await samples()).toEqual(there);
    },
  );

  it.each([
    [2_000, 2_000],
    [undefined, 5_000],
  ])(
    "wait for the store no longer than storeTimeout %s, %i ms, and leave no timer",
    async (storeTimeout, most) => {
      const clock = new FakeClock();
      const store = { backlog: () => new Promise<never>(() => {}), nextDue: async () => undefined };
      const { register } = metricsOf({ store, clock, storeTimeout });
      let text: string | undefined;
      const scrape = register.metrics().then((found) => {
        text = found;
      });
      await clock.step(most - 1);
      expect(text).toBeUndefined();
      await clock.step(1);
      await scrape;
      expect(text).toContain("\noutbox_store_up 0\n");
      expect(clock.waiters()).toBe(0);
    },
  );

  it("query the store once per scrape, and once for two concurrent scrapes", async () => {
    const requests: string[] = [];
    const memory = new MemoryStore();
    const store = {
      backlog: () => {
        requests.push("backlog");
        return memory.backlog();
      },
      nextDue: () => {
        requests.push("nextDue");
        return memory.nextDue();
      },
    };
    const { register } = metricsOf({ store });
    await register.metrics();
    expect(requests).toEqual(["backlog", "nextDue"]);
    await Promise.all([register.metrics(), register.metrics()]);
    expect(requests).toEqual(["backlog", "nextDue", "backlog", "nextDue"]);
  });

  it("go to the default registry of prom-client, and exist once per registry", async () => {
    const store = new MemoryStore();
    new OutboxMetrics({ store });
    try {
      expect(await globalRegister.metrics()).toBe(UNTOUCHED);
      expect(() => new OutboxMetrics({ store })).toThrow("already been registered");
    } finally {
      globalRegister.clear();
    }
  });
});

it("shows whether a relay listens, once it has tried", async () => {
  const register = new Registry();
  const metrics = new OutboxMetrics({ store: new MemoryStore(), register });
  expect(await register.metrics()).not.toMatch(/^outbox_listening/m);
  for (const isListening of [true, false]) {
    metrics.onEvent({ type: "listening", isListening });
    expect(await register.metrics()).toContain(`\noutbox_listening ${Number(isListening)}\n`);
  }
});

it("shows whether rows may be hidden, for a store that can tell", async () => {
  let reason: string | undefined = "row level security";
  let isAway = false;
  const restriction = async () => {
    if (isAway) throw new Error("away");
    return reason;
  };
  const store = Object.assign(new MemoryStore(), { restriction });
  const { register, metrics, samples } = metricsOf({ store });
  expect(await samples()).toEqual(["outbox_store_up 1", "outbox_restricted 1"]);
  metrics.onEvent({ type: "restricted", reason: "row level security" });
  expect(await samples()).toEqual(["outbox_store_up 1", "outbox_restricted 1"]);
  reason = undefined;
  expect(await register.metrics()).toContain("\noutbox_restricted 0\n");
  isAway = true;
  expect(await register.metrics()).not.toMatch(/^outbox_restricted/m);
});

it("shows the clock once it was measured", async () => {
  const register = new Registry();
  const metrics = new OutboxMetrics({ store: new MemoryStore(), register });
  expect(await register.metrics()).not.toMatch(/^outbox_clock_ahead_seconds/m);
  metrics.onEvent({ type: "clock", ahead: 12_000, isTolerated: false });
  metrics.onEvent({ type: "clock", ahead: -500, isTolerated: true });
  expect(await register.metrics()).toContain("\noutbox_clock_ahead_seconds -0.5\n");
});
