import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type DeadlockError, FakeClock } from "@holdfast/clock/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";

let server: Server;
let url: string;
let clock: FakeClock;
let timeline: Timeline;

beforeAll(async () => {
  server = createServer((_, response) => response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterAll(() => server.close());

beforeEach(() => {
  clock = new FakeClock();
  timeline = timelineOf(clock);
});

/** A sleep in real milliseconds. */
const real = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const bytes = new Uint8Array(50_000);

const io: Record<string, () => Promise<unknown>> = {
  "a read of a file": () => readFile(import.meta.filename),
  "a compression": () => promisify(gzip)(bytes),
  "a request": async () => (await fetch(url)).text(),
  "a digest": () => webcrypto.subtle.digest("SHA-256", bytes),
  "a real timer": () => new Promise((resolve) => setTimeout(resolve, 1)),
};

const pieces = Object.entries(io).map(([name, work]) => ({ name, work }));

describe("external", () => {
  it.each(pieces)("keeps time from moving during $name", async ({ work }) => {
    for (let round = 0; round < 25; round++) {
      const order: string[] = [];
      await clock.run(
        async () => {
          void clock.sleep(10).then(() => order.push("time moved"));
          await clock.external(work());
          order.push("done");
          await clock.sleep(10);
        },
        { turns: round % 2 },
      );
      expect(order).toEqual(["done", "time moved"]);
    }
  });

  it.each(pieces)("is not needed for $name while no timer is armed", async ({ work }) => {
    for (const turns of [0, 1]) await clock.run(work, { turns });
    expect(clock.monotonic()).toBe(1_000_000);
  });

  it("is needed: time does not wait for a real timer without it", async () => {
    const real = vi.fn();
    const timer = setTimeout(real, 60_000);
    await clock.run(() => clock.sleep(10));
    clearTimeout(timer);
    expect([clock.monotonic(), real.mock.calls]).toEqual([1_000_010, []]);
  });

  it("settles like the promise and holds time until then", async () => {
    const error = new Error("mine");
    expect(await clock.external(Promise.resolve("value"))).toBe("value");
    await expect(clock.external(Promise.reject(error))).rejects.toBe(error);
    await clock.step(1, { stallMs: 0 });
  });

  it("holds time until the later of two overlapping promises settles", async () => {
    await clock.run(async () => {
      void clock.sleep(1).then(() => timeline.note("time moved"));
      await Promise.all([
        clock.external(real(2)).then(() => timeline.note("short")),
        clock.external(real(12)).then(() => timeline.note("long")),
      ]);
      await clock.sleep(2);
    });
    expect(timeline.events).toEqual([
      [0, "short"],
      [0, "long"],
      [1, "time moved"],
    ]);
  });

  it("may take longer than a second of real time without an option", async () => {
    const container = new Promise((resolve) => setTimeout(resolve, 1_500, "started"));
    expect(await clock.run(() => clock.external(container))).toBe("started");
  });

  it("is named in the error when it waits for the clock that it holds", async () => {
    const stuck = clock.run(() => clock.external(clock.sleep(10), "self"), { externalMs: 0 });
    await expect(stuck).rejects.toMatchObject({ facts: { holds: ["self"] } });
  });

  it("has the label external by default", async () => {
    const stuck = clock.run(() => clock.external(clock.sleep(10)), { externalMs: 0 });
    await expect(stuck).rejects.toMatchObject({ facts: { holds: ["external"] } });
  });
});

describe("the limit of external", () => {
  it("is not stallMs", async () => {
    const work = (): Promise<void> => clock.external(real(60), "container");
    await clock.run(work, { stallMs: 5 });
  });

  it.each([
    ["of the call", () => new FakeClock(), { stallMs: Infinity, externalMs: 5 }],
    ["of the clock", () => new FakeClock({ stallMs: Infinity, externalMs: 5 }), {}],
  ])("is externalMs %s, and the error names the holds", async (_, make, options) => {
    const slow = make();
    slow.hold("a socket");
    const stuck = slow.run(() => slow.external(real(400), "container"), options);
    const error = (await stuck.catch((reason: unknown) => reason)) as DeadlockError;
    expect(error.facts).toMatchObject({ stalled: 5, limit: "externalMs" });
    expect(error.message).toMatch(
      /^run\(\) is stuck: time is held by a socket, container and nothing happened for 5 ms of real time\n/,
    );
    expect(error.message).toContain("raise externalMs above 5");
  });

  it("is over when the work settles: stallMs applies again", async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const stuck = clock.run(() => clock.external(real(20)).then(never), { stallMs: 5 });
    await expect(stuck).rejects.toMatchObject({ facts: { stalled: 5, limit: "stallMs" } });
  });

  it("is far longer than stallMs by default", async () => {
    const stop = new AbortController();
    const never = (): Promise<never> => clock.external(new Promise(() => {}));
    const held = clock.run(never, { stallMs: 0, signal: stop.signal });
    await real(30);
    stop.abort("bye");
    await expect(held).rejects.toBe("bye");
  });
});

describe("hold", () => {
  it("keeps step from moving time until it is released", async () => {
    const hold = clock.hold();
    clock.afterFunc(5, () => timeline.note("fired"));
    const stepped = clock.step(10);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([clock.monotonic(), timeline.events]).toEqual([1_000_000, []]);
    hold[Symbol.dispose]();
    await stepped;
    expect(timeline.events).toEqual([[5, "fired"]]);
  });

  it("keeps due timers from firing", async () => {
    const hold = clock.hold();
    clock.afterFunc(0, () => timeline.note("fired"));
    const stepped = clock.step(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(timeline.events).toEqual([]);
    hold[Symbol.dispose]();
    await stepped;
    expect(timeline.events).toEqual([[0, "fired"]]);
  });

  it("releases no other hold when it is disposed twice", async () => {
    const first = clock.hold("first");
    const second = clock.hold("second");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await expect(clock.step(1, { stallMs: 0 })).rejects.toMatchObject({
      facts: { holds: ["second"] },
    });
    second[Symbol.dispose]();
    await clock.step(1, { stallMs: 0 });
  });

  it("does not stop stepSync, which runs without the event loop", () => {
    clock.hold();
    clock.afterFunc(1, () => timeline.note("fired"));
    clock.stepSync(1);
    expect(timeline.events).toEqual([[1, "fired"]]);
  });

  it("is reported with the others in the order of creation", async () => {
    for (const label of ["a", "b", "c"]) clock.hold(label);
    await expect(clock.run(() => clock.sleep(1), { stallMs: 1 })).rejects.toMatchObject({
      facts: { holds: ["a", "b", "c"], stalled: 1 },
    });
  });
});
