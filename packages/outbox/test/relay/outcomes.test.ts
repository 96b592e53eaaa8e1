import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import type { OutboxEvent } from "@holdfast/outbox";
import type { Claim, OutboxStore, Outcome } from "@holdfast/outbox/store";
import { MemoryStore } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { Outcomes } from "../../src/relay/outcomes.ts";
import { resolveRelay } from "../../src/relay/relay-options.ts";
import { sampleMessage } from "../sample-message.ts";

type Write = OutboxStore<never>["write"];
type Type = "delivered" | "released";

const { signal } = new AbortController();

/** Outcomes of a store that answers `true` for each, unless `write` decides. */
function setUp(write: Write = async (outcomes) => outcomes.map(() => true)) {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const requests: [instant: number, numbers: number[]][] = [];
  const store = new MemoryStore();
  store.write = async (all) => {
    requests.push([clock.monotonic() - start, all.map(({ claim }) => claim.number)]);
    return await write(all);
  };
  const publisher = { publish: async () => {} };
  const options = { name: "a", store, publisher, clock, logger: silentLogger, random: () => 0 };
  const ends = new Map<number, (type: OutboxEvent["type"]) => void>();
  const outcomes = new Outcomes(resolveRelay(options), signal, (event) => {
    if ("claim" in event) ends.get(event.claim.number)?.(event.type);
  });
  const call = async (number: number, type: Type = "delivered"): Promise<OutboxEvent["type"]> => {
    const claim: Claim = { message: sampleMessage(), relay: "a", number, until: 0 };
    const until = clock.now() + 60_000;
    const held = {
      claim,
      expires: clock.monotonic() + 60_000,
      until,
      isAlone: false,
      isLate: false,
    };
    const outcome: Outcome = type === "released" ? { type, claim } : { type, claim, now: 0 };
    return await new Promise((resolve) => {
      ends.set(number, resolve);
      outcomes.add({ held, outcome });
    });
  };
  return { clock, requests, outcomes, call };
}

describe("Outcomes", () => {
  it("writes the outcomes of 5 ms together, each with its own answer", async () => {
    const { clock, requests, call } = setUp(async (all) =>
      all.map(({ claim }) => claim.number !== 2),
    );
    const first = call(1);
    await clock.step(4);
    const second = call(2, "released");
    expect(requests).toEqual([]);
    await clock.step(1);
    expect(await clock.run(() => Promise.all([first, second]))).toEqual(["delivered", "lost"]);
    const third = call(3, "released");
    expect(await clock.run(() => third)).toBe("released");
    expect(requests).toEqual([
      [5, [1, 2]],
      [10, [3]],
    ]);
  });

  it("writes 256 at once, and leaves no timer", async () => {
    const { clock, requests, outcomes, call } = setUp();
    const numbers = Array.from({ length: 256 }, (_, number) => number);
    const calls = numbers.map((number) => call(number));
    expect(outcomes.pending).toBe(256);
    expect(new Set(await clock.run(() => Promise.all(calls)))).toEqual(new Set(["delivered"]));
    expect(requests).toEqual([[0, numbers]]);
    expect([outcomes.pending, clock.waiters()]).toEqual([0, 0]);
  });

  it("writes at once when flushed, and nothing without outcomes", async () => {
    const { clock, requests, outcomes, call } = setUp();
    outcomes.flush();
    const only = call(1);
    outcomes.flush();
    expect(await clock.run(() => only)).toBe("delivered");
    expect(requests).toEqual([[0, [1]]]);
    expect(clock.waiters()).toBe(0);
  });

  it("does not block an outcome behind a request that hangs", async () => {
    const { clock, outcomes, call } = setUp(async (all) =>
      all[0]?.claim.number === 1 ? await new Promise<never>(() => {}) : all.map(() => true),
    );
    void call(1);
    outcomes.flush();
    const next = call(2);
    outcomes.flush();
    expect(await clock.run(() => next)).toBe("delivered");
  });

  it("writes each by itself after a request that failed, and gives a claim back once", async () => {
    const { clock, requests, outcomes, call } = setUp(async (all) => {
      if (all.length > 1) throw new Error("refused");
      return [true];
    });
    const calls = [call(1), call(2, "released"), call(3)];
    outcomes.flush();
    expect(await clock.run(() => Promise.all(calls))).toEqual([
      "delivered",
      "unwritten",
      "delivered",
    ]);
    expect(requests).toEqual([
      [0, [1, 2, 3]],
      [100, [1]],
      [100, [3]],
    ]);
    expect(clock.waiters()).toBe(0);
  });
});
