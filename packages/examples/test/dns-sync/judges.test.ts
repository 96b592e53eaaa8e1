import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import {
  desiredOf,
  differencesBetween,
  isObserved,
  type StoredRecord,
  type StoredZone,
} from "../../src/dns-sync/harness/desired.ts";
import { Drift } from "../../src/dns-sync/harness/drift.ts";
import { Invariants } from "../../src/dns-sync/harness/invariants.ts";
import { grownIn } from "../../src/dns-sync/harness/soak.ts";
import type { Remote } from "../../src/dns-sync/operator/provider.ts";

function stored<Kind extends string>(kind: Kind, name: string, more = {}) {
  const metadata = { namespace: "default", name, uid: name, resourceVersion: "1", generation: 1 };
  return { apiVersion: "", kind, metadata: { ...metadata, creationTimestamp: "", ...more } };
}

function record(name: string, spec: Partial<StoredRecord["spec"]> = {}, more = {}): StoredRecord {
  const whole = { zone: "web", host: name, type: "A", value: "192.0.2.1", ...spec };
  return { ...stored("DnsRecord", name, more), spec: whole };
}

function withReady(
  one: StoredRecord,
  status: string,
  generation: number,
  message = "",
): StoredRecord {
  const ready = { type: "Ready", status, reason: "x", message, observedGeneration: generation };
  return { ...one, status: { state: "x", conditions: [{ ...ready, lastTransitionTime: "" }] } };
}

const ZONE: StoredZone = { ...stored("DnsZone", "web"), spec: { domain: "example.org", ttl: 60 } };
const ZONES = new Map([["default/web", ZONE]]);
const remote = (host: string, change: Partial<Remote> = {}): Remote => ({
  name: `${host}.example.org`,
  type: "A",
  value: "192.0.2.1",
  ttl: "60",
  owner: host,
  ...change,
});

describe("the desired state of a provider", () => {
  it("is the record with the domain and the default ttl of its zone", () => {
    expect(desiredOf(record("www"), ZONES)).toEqual(remote("www"));
    expect(desiredOf(record("www", { ttl: 5 }), ZONES)?.ttl).toBe("5");
  });

  it.each([
    ["is being deleted", record("www", {}, { deletionTimestamp: "now" })],
    ["has no zone", record("www", { zone: "none" })],
    ["is refused", record("www", { value: "x" })],
  ])("has nothing for a record that %s", (_, one) => {
    expect(desiredOf(one, ZONES)).toBeUndefined();
  });

  it("differs from missing, wrong, foreign and surplus records", () => {
    const records = ["a", "b", "c", "d", "e"].map((name) => record(name));
    const there = [
      remote("a"),
      remote("b", { value: "192.0.2.9" }),
      remote("c", { ttl: "61" }),
      remote("d", { owner: "x" }),
      remote("f"),
    ];
    const different = differencesBetween(records, ZONES, there);
    expect(different.map((key) => key[0]).sort()).toEqual(["b", "c", "d", "e", "f"]);
  });

  it("accepts either of two records with the same name", () => {
    const records = [
      record("a", { host: "twin" }),
      record("b", { host: "twin", value: "192.0.2.2" }),
    ];
    const one = remote("twin", { owner: "b", value: "192.0.2.2" });
    expect(differencesBetween(records, ZONES, [one])).toEqual([]);
    expect(differencesBetween(records, ZONES, [remote("twin", { owner: "a" })])).toEqual([]);
    expect(differencesBetween(records, ZONES, [{ ...one, owner: "c" }])).toEqual([
      "twin.example.org A",
    ]);
    expect(differencesBetween(records, ZONES, [])).toEqual(["twin.example.org A"]);
  });
});

describe("a status", () => {
  it("is observed if it is correct for the latest spec", () => {
    const [good, bad] = [record("www"), record("www", { value: "x" })];
    expect(isObserved(good, ZONES)).toBe(false);
    expect(isObserved(withReady(good, "True", 1), ZONES)).toBe(true);
    expect(isObserved(withReady(good, "True", 0), ZONES)).toBe(false);
    expect(isObserved(withReady(good, "False", 1), ZONES)).toBe(false);
    expect(isObserved(withReady(bad, "False", 1), ZONES)).toBe(true);
    expect(isObserved(withReady(bad, "True", 1), ZONES)).toBe(false);
    const taken = "www.example.org A belongs to another record";
    expect(isObserved(withReady(good, "False", 1, taken), ZONES)).toBe(true);
  });
});

describe("drift", () => {
  it("records the longest difference of a name, and returns an episode at its end", () => {
    const clock = new FakeClock();
    const drift = new Drift(clock);
    expect(drift.sample([])).toBeUndefined();
    drift.sample(["a"]);
    clock.stepSync(1_000);
    drift.sample(["a", "b"]);
    clock.stepSync(1_000);
    drift.sample(["b"]);
    expect(drift).toMatchObject({ now: 1, longest: 2_000 });
    clock.stepSync(500);
    expect(drift.sample([])).toEqual({ duration: 2_500, most: 2 });
    expect(drift).toMatchObject({ now: 0, longest: 2_000, history: [0, 1, 2, 1, 0] });
  });

  it("keeps a minute of history", () => {
    const drift = new Drift(new FakeClock());
    for (let index = 0; index < 300; index++) drift.sample([]);
    expect(drift.history).toHaveLength(240);
  });
});

describe("invariants", () => {
  it("start unchecked, hold after a check, and stay broken after a violation", () => {
    const invariants = new Invariants();
    const stateOf = (name: string) => invariants.list.find((one) => one.name.includes(name))?.state;
    expect(invariants.list).toHaveLength(8);
    expect(invariants.list.every(({ state }) => state === "unchecked")).toBe(true);
    invariants.check("caches", undefined);
    expect(stateOf("caches")).toBe("holds");
    expect(invariants.areKept).toBe(true);
    invariants.check("caches", "replica-1.1 caches 3 of 4 objects");
    invariants.check("caches", undefined);
    invariants.count("quota", 100, 2, "2 requests exceeded the quota");
    expect(stateOf("caches")).toBe("broken");
    expect(stateOf("quota")).toBe("broken");
    expect(invariants.areKept).toBe(false);
    expect(invariants.list.find(({ name }) => name.includes("caches"))).toMatchObject({
      checks: "3 checks",
      problem: "replica-1.1 caches 3 of 4 objects",
    });
  });
});

describe("a soak", () => {
  const samples = (heapOf: (index: number) => number, more = {}) =>
    Array.from({ length: 30 }, (_, index) => ({
      heap: heapOf(index),
      sockets: 20,
      listeners: 15,
      warnings: 0,
      ...more,
    }));

  it("reports no growth for fluctuating or level measures", () => {
    expect(grownIn(samples((index) => 20e6 + (index % 3) * 3e6))).toEqual([]);
    expect(grownIn(samples((index) => (index < 5 ? 10e6 : 20e6)))).toEqual([]);
  });

  it("reports each growing measure", () => {
    expect(grownIn(samples((index) => 20e6 + index * 1e6))).toEqual(["heap"]);
    const growing = samples(() => 20e6).map((sample, index) => ({
      ...sample,
      sockets: 20 + 2 * index,
      listeners: 15 + index,
    }));
    expect(grownIn(growing)).toEqual(["sockets", "listeners"]);
  });
});
