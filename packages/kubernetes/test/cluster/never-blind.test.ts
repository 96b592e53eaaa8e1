import type { Fault, FaultRule } from "@holdfast/fake-apiserver";
import type { ReflectorStatus } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { isFollowing } from "../../src/operator/health-checks.ts";
import {
  closingAfter,
  follow,
  Greeting,
  greeting,
  onWatches,
  texts,
  World,
} from "./cluster-kit.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function error(status: object): string {
  return JSON.stringify({ type: "ERROR", object: { kind: "Status", apiVersion: "v1", ...status } });
}

function status(world: World): ReflectorStatus {
  const [first] = world.cluster.status().informers[0]?.reflectors ?? [];
  if (first === undefined) throw new Error("there is no informer");
  return first;
}

function isReady(world: World): boolean {
  return world.cluster.status().informers.every(isFollowing);
}

/** An informer with one greeting, whose watch is open. */
async function synced(world: World) {
  await world.put("ann", "hello");
  const informer = world.cluster.watch(Greeting);
  await world.cluster.ready(world.stop.signal);
  await world.clock.sleep(0);
  return informer;
}

/** A fault that a watch meets as long as it asks for one version. */
function tiedTo(version: string | null | undefined, fault: Fault): FaultRule {
  const when: FaultRule["when"] = ({ query }) => query.get("resourceVersion") === version;
  return { fault, verbs: ["watch"], when };
}

describe("a watch failure that is tied to the version", () => {
  const line = (text: string): Fault => ({ type: "line", text, after: { bytes: 0 } });
  const failures: [name: string, fault: Fault][] = [
    [
      "an ERROR event 500 of etcd",
      line(error({ code: 500, message: "etcd event received with PrevKv=nil" })),
    ],
    [
      "an ERROR event 504",
      line(
        error({
          code: 504,
          reason: "Timeout",
          message: "Too large resource version: 9, current: 8",
        }),
      ),
    ],
    ["HTTP 400", { type: "status", status: 400, message: "invalid resourceVersion" }],
    ["an event that cannot be read", line('{"type":"MODIFIED","object":{"metadata":{}}}')],
    ["an event of an unknown type", line('{"type":"CHANGED","object":{}}')],
    ["a line that is not JSON", line("<html>")],
    ["a clean end", { type: "close" }],
  ];

  /** How often a watch asks for the version that the server cannot serve. */
  async function asksWith(fault: Fault): Promise<number> {
    const world = new World();
    let asks = 0;
    await world.run(async () => {
      const informer = await synced(world);
      const version = world.asked("watch")[0]?.query.get("resourceVersion");
      world.api.intercept(tiedTo(version, fault));
      world.api.stop();
      await world.api.start();
      await world.put("ann", "good day");
      await world.clock.sleep(10_000);
      expect(texts(informer)).toEqual(["ann: good day"]);
      const tied = world
        .asked("watch")
        .filter(({ query }) => query.get("resourceVersion") === version);
      asks = tied.length - 1; // but for the first, which was open
    });
    return asks;
  }

  it.each(failures)("leads to a list after the third: %s", async (_, fault) => {
    expect(await asksWith(fault)).toBeLessThanOrEqual(3);
  });

  it.each(["Expired", "Gone"])(
    "leads to a list at once: an ERROR event with the reason %s and no code",
    async (reason) => {
      expect(await asksWith(line(error({ reason })))).toBe(1);
    },
  );

  it("is not reported as ready for longer than 15 minutes if lists fail, too", async () => {
    const world = new World();
    await world.run(async () => {
      await synced(world);
      world.api.intercept({ fault: line(error({ code: 500 })), verbs: ["watch"] });
      world.api.intercept({ fault: { type: "status", status: 500 }, verbs: ["list"] });
      world.api.stop();
      await world.api.start();
      await world.clock.sleep(15 * MINUTE);
      const before = isReady(world);
      await world.clock.sleep(1_000);
      expect([before, isReady(world)]).toEqual([true, false]);
      expect(status(world).silentFor).toBe(15 * MINUTE + 1_000);
    });
  });

  it("keeps an informer ready that lists in place of it", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = await synced(world);
      world.api.intercept({ fault: line(error({ code: 500 })), verbs: ["watch"] });
      world.api.stop();
      await world.api.start();
      for (let minute = 0; minute < 60; minute++) {
        await world.put("ann", `${minute}`);
        await world.clock.sleep(2 * MINUTE);
        expect([texts(informer), isReady(world)]).toEqual([[`ann: ${minute}`], true]);
      }
    });
  });
});

it("an outage of the server leads to no list: the watch goes on from its version", async () => {
  const world = new World();
  await world.run(async () => {
    const informer = await synced(world);
    world.api.stop();
    await world.clock.sleep(2 * MINUTE);
    await world.api.start();
    await world.put("ann", "good day");
    await world.clock.sleep(30_000);
    expect(texts(informer)).toEqual(["ann: good day"]);
  });
  const lists = world.asked("list").filter(({ query }) => query.get("limit") !== "1");
  expect(lists).toHaveLength(1);
});

describe("silence", () => {
  it("counts from the last event, bookmark or complete list, and not from an accepted watch", async () => {
    const world = new World({
      way: onWatches((answer, signal) => ({ ...answer, body: nothing(signal) })),
      idleTimeout: 50_000,
    });
    async function* nothing(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      await world.clock.sleep(Number.POSITIVE_INFINITY, { signal });
      yield Buffer.from("");
    }
    await world.run(async () => {
      await synced(world);
      await world.clock.sleep(140_000);
      expect(world.asked("watch")).toHaveLength(3); // at 0, 50 and 100 s
      expect(status(world).silentFor).toBe(140_000);
      await world.clock.sleep(20_000);
      expect(status(world).silentFor).toBe(10_000); // a list at 150 s
    });
  });

  it("is not ended by an event that each watch brings again", async () => {
    let first: Uint8Array | undefined;
    const world: World = new World({
      way: onWatches((answer, signal) => ({ ...answer, body: again(answer.body, signal) })),
    });
    async function* again(
      body: AsyncIterable<Uint8Array>,
      signal: AbortSignal,
    ): AsyncGenerator<Uint8Array> {
      if (first === undefined) for await (first of body) break;
      if (first !== undefined) yield first;
      await world.clock.sleep(30_000, { signal });
    }
    await world.run(async () => {
      const informer = await synced(world);
      await world.put("ann", "good day");
      await world.clock.sleep(MINUTE);
      await world.put("ann", "good night");
      await world.clock.sleep(11 * MINUTE);
      expect(texts(informer)).toEqual(["ann: good night"]);
    });
  });

  it("is not ended by an event that is older than the last probe", async () => {
    const world: World = new World({
      way: onWatches((answer, signal) => ({ ...answer, body: oneEvent(answer.body, signal) })),
    });
    async function* oneEvent(
      body: AsyncIterable<Uint8Array>,
      signal: AbortSignal,
    ): AsyncGenerator<Uint8Array> {
      for await (const chunk of body) {
        yield chunk;
        break;
      }
      await world.clock.sleep(2 * MINUTE, { signal });
    }
    await world.run(async () => {
      const informer = await synced(world);
      for (let change = 1; change <= 20; change++) await world.put("ann", `${change}`);
      const when: FaultRule["when"] = ({ query }) => query.get("limit") !== "1";
      const lists = world.api.intercept({
        fault: { type: "status", status: 500 },
        verbs: ["list"],
        when,
      });
      await world.clock.sleep(16 * MINUTE);
      expect(texts(informer)).toEqual(["ann: 7"]);
      expect(isReady(world)).toBe(false);
      lists[Symbol.dispose]();
      await world.clock.sleep(2 * MINUTE);
      expect(texts(informer)).toEqual(["ann: 20"]);
      expect(isReady(world)).toBe(true);
    });
  });

  it("of 10 minutes leads to a list, where watches end before their first bookmark", async () => {
    const world: World = new World({ way: closingAfter(() => world.clock, 6_000) });
    await world.run(async () => {
      await synced(world);
      for (let minute = 0; minute < 60; minute++) {
        await world.clock.sleep(MINUTE);
        expect(isReady(world)).toBe(true);
      }
    });
    const lists = world.asked("list").filter(({ query }) => query.get("limit") !== "1");
    expect(lists).toHaveLength(6);
  });
});

describe("an object that user code rejects", () => {
  const poison = (object: { spec?: { text: string } }): void => {
    if (object.spec?.text === "poison") throw new Error("cannot index poison");
  };

  it("is left out of the index that throws; the others go on", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting, {
        indexes: {
          text: (object) => {
            poison(object);
            return [object.spec?.text ?? ""];
          },
          name: ({ metadata }) => [metadata.name],
        },
      });
      await world.put("bad", "poison");
      await world.cluster.ready(world.stop.signal);
      await world.put("ann", "hello");
      await world.put("worse", "poison");
      await world.clock.sleep(1_000);
      expect(texts(informer)).toEqual(["ann: hello", "bad: poison", "worse: poison"]);
      expect(informer.by("text", "hello").map(({ metadata }) => metadata.name)).toEqual(["ann"]);
      expect(informer.by("name", "worse").map(({ metadata }) => metadata.name)).toEqual(["worse"]);
      expect([status(world).rejected, isReady(world)]).toEqual([2, true]);
      expect(status(world).lastError?.message).toBe(
        'options.indexes["text"] threw for greetings.example.org default/worse: cannot index poison',
      );
      expect(world.logged).toContain("object rejected by options.indexes; left out of the index");
      await world.put("bad", "cured");
      await world.others.delete(Greeting, "default/worse");
      await world.clock.sleep(1_000);
      expect(status(world).rejected).toBe(0);
      expect(informer.by("text", "cured")).toHaveLength(1);
    });
    expect(world.requests("list")).toHaveLength(1);
    expect(world.requests("watch")).toHaveLength(1);
  });

  it("by a transform is skipped and keeps its last good state; the others go on", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting, {
        transform: (object) => {
          poison(object);
          return object;
        },
      });
      await world.put("bad", "poison");
      await world.put("bob", "hello");
      await world.cluster.ready(world.stop.signal);
      const changes = follow(informer, world.stop.signal);
      await world.put("ann", "hello");
      await world.put("bob", "poison");
      await world.cluster.client.create(Greeting, greeting("own", "poison"));
      await world.clock.sleep(1_000);
      expect(texts(informer)).toEqual(["ann: hello", "bob: hello"]);
      expect(status(world).rejected).toBe(3);
      await world.put("bad", "cured");
      await world.put("bob", "cured");
      await world.others.delete(Greeting, "default/own");
      await world.clock.sleep(1_000);
      expect(texts(informer)).toEqual(["ann: hello", "bad: cured", "bob: cured"]);
      expect(status(world).rejected).toBe(0);
      expect(changes).toEqual([
        "added bob: hello",
        "added ann: hello",
        "added bad: cured",
        "updated bob: cured",
      ]);
    });
  });
});

describe("a restore behind a frozen connection", () => {
  /** The server stands still for its clients, without an end of their connections. */
  function frozen(world: World): { readonly way: Parameters<typeof onWatches>[0] } {
    const way = (answer: Parameters<Parameters<typeof onWatches>[0]>[0], signal: AbortSignal) => ({
      ...answer,
      body: untilFrozen(answer.body, signal),
    });
    async function* untilFrozen(body: AsyncIterable<Uint8Array>, signal: AbortSignal) {
      for await (const chunk of body) {
        if (isFrozen) await world.clock.sleep(Number.POSITIVE_INFINITY, { signal });
        yield chunk;
      }
    }
    return { way };
  }
  let isFrozen = false;

  it.each([
    ["an idle end", undefined],
    ["an idle end, then 429 with a time", { type: "status", status: 429, retryAfter: 2 } as const],
    ["an idle end, then 503 with a time", { type: "status", status: 503, retryAfter: 2 } as const],
  ])("is noticed after %s", async (_, fault) => {
    isFrozen = false;
    const world: World = new World({
      way: onWatches((answer, signal) => frozen(world).way(answer, signal)),
    });
    await world.run(async () => {
      const informer = await synced(world);
      const snapshot = world.api.snapshot();
      for (let at = 0; at < 5; at++) await world.put("ann", `lost ${at}`);
      await world.clock.sleep(1);
      isFrozen = true;
      world.api.restore(snapshot);
      isFrozen = false;
      if (fault) world.api.intercept({ fault, verbs: ["watch"], times: 1 });
      await world.clock.sleep(4 * MINUTE);
      expect(texts(informer)).toEqual(["ann: hello"]);
    });
  });

  it("is noticed after a graceful close, with a time before the next watch", async () => {
    const world: World = new World({ way: closingAfter(() => world.clock, 30_000) });
    await world.run(async () => {
      const informer = await synced(world);
      const snapshot = world.api.snapshot();
      for (let at = 0; at < 5; at++) await world.put("ann", `lost ${at}`);
      await world.clock.sleep(1);
      world.api.restore(snapshot);
      const fault = { type: "status", status: 429, retryAfter: 45 } as const;
      world.api.intercept({ fault, verbs: ["watch"], times: 1 });
      await world.clock.sleep(4 * MINUTE);
      expect(texts(informer)).toEqual(["ann: hello"]);
    });
  });

  it("sends a watch from a version of the future nothing, not even a bookmark", async () => {
    const world = new World();
    await world.clock.run(async () => {
      await world.put("ann", "hello");
      const answer = await world.api.transport.send(
        {
          method: "GET",
          path: "/apis/example.org/v1/greetings?watch=true&allowWatchBookmarks=true&resourceVersion=999&timeoutSeconds=200",
          headers: {},
        },
        world.stop.signal,
      );
      let bytes = 0;
      for await (const chunk of answer.body) bytes += chunk.length;
      expect([answer.status, bytes]).toEqual([200, 0]);
    });
  });
});

describe("relistEvery", () => {
  it.each([15 * MINUTE, HOUR, 6 * HOUR])("of %d ms lists that often", async (relistEvery) => {
    const world = new World({ relistEvery });
    await world.run(async () => {
      await synced(world);
      await world.clock.sleep(24 * HOUR + 1_000);
    });
    const lists = world.asked("list").filter(({ query }) => query.get("limit") !== "1");
    expect(lists).toHaveLength(1 + (24 * HOUR) / relistEvery);
  });
});

describe("a Retry-After", () => {
  it.each([
    ["of a year counts as 5 minutes", 31_536_000, 5 * MINUTE],
    ["of 1e300 s is no number, and counts as none", 1e300, 400],
  ])("%s", async (_, retryAfter, second) => {
    const world = new World();
    const fault = { type: "status", status: 429, retryAfter } as const;
    world.api.intercept({ fault, verbs: ["list"], times: 1 });
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.cluster.ready(world.stop.signal);
    });
    expect(world.requests("list").map(([, at]) => at)).toEqual([0, second]);
  });

  it("does not delay catchUp", async () => {
    const world = new World();
    await world.run(async () => {
      await synced(world);
      const fault = { type: "status", status: 429, retryAfter: 3_600 } as const;
      world.api.intercept({ fault, verbs: ["watch"], times: 1 });
      world.api.stop();
      await world.api.start();
      await world.clock.sleep(10_000);
      await world.others.patch(Greeting, "default/ann", { spec: { text: "good day" } });
      const before = world.now;
      await world.cluster.catchUp(world.stop.signal);
      expect(world.now - before).toBeLessThan(10_000);
    });
  });
});

describe("a server on which nothing happens", () => {
  it("is listed once, watched for 80 % of the idle timeout, and heard at each end", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = await synced(world);
      await world.clock.sleep(24 * HOUR);
      expect(status(world)).toMatchObject({ lists: 1, lastError: undefined });
      expect(status(world).silentFor).toBeLessThan(90_000);
      const watches = world.requests("watch").map(([, at]) => at);
      expect(watches.slice(0, 4)).toEqual([0, 90_000, 162_000, 234_000]);
      expect(watches).toHaveLength(2 + Math.floor((24 * HOUR - 90_000) / 72_000));
      expect(isReady(world)).toBe(true);
      await world.put("ann", "at last");
      await world.clock.sleep(0);
      expect(texts(informer)).toEqual(["ann: at last"]);
      await world.clock.sleep(72_000); // an event makes the next watch a long one
      expect(world.asked("watch").at(-1)?.query.get("timeoutSeconds")).toBe("300");
    });
  });

  it("is listed once, however long the answer to a watch took", async () => {
    const world: World = new World({
      way: ({ description, send }) => ({
        description,
        async send(request, signal) {
          const answer = await send(request, signal);
          // The server's time began before.
          await world.clock.sleep(300, { signal, label: "slow answer" });
          return answer;
        },
      }),
    });
    await world.run(async () => {
      await synced(world);
      await world.clock.sleep(24 * HOUR);
      expect(status(world)).toMatchObject({ lists: 1, lastError: undefined });
      expect(status(world).silentFor).toBeLessThan(90_000);
    });
  });

  it("is listed when it was restored to an older state meanwhile", async () => {
    const world = new World();
    await world.run(async () => {
      const snapshot = world.api.snapshot();
      const informer = await synced(world);
      await world.clock.sleep(10 * MINUTE);
      world.api.restore(snapshot);
      await world.clock.sleep(3 * MINUTE);
      expect(texts(informer)).toEqual([]);
    });
  });
});

describe("a server that never ends", () => {
  it("a watch that trickles newlines ends with the idle timeout", async () => {
    const world: World = new World({
      way: onWatches((answer, signal) => ({ ...answer, body: newlines(signal) })),
    });
    async function* newlines(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      for (;;) {
        await world.clock.sleep(10_000, { signal });
        yield Buffer.from("\r\n");
      }
    }
    await world.run(async () => {
      await synced(world);
      await world.clock.sleep(5 * MINUTE);
      expect(status(world).lastError).toBeUndefined(); // a lone CRLF is an empty line
    });
    expect(world.requests("watch").length).toBeGreaterThan(2);
  });

  it("a watch that trickles bytes ends a minute after the time it asked for", async () => {
    const world: World = new World({
      way: onWatches((answer, signal) => ({ ...answer, body: spaces(signal) })),
    });
    async function* spaces(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      for (;;) {
        await world.clock.sleep(10_000, { signal });
        yield Buffer.from(" ");
      }
    }
    await world.run(async () => {
      await synced(world);
      await world.clock.sleep(20 * MINUTE);
    });
    // timeoutSeconds is 300 after a list: `random` draws 0. It is 72 after a watch without an event, and a list follows
    // the third.
    const times = [0, 360_000, 492_000, 624_000, 984_000, 1_116_000];
    expect(world.requests("watch").map(([, at]) => at)).toEqual(times);
  });

  it("a list whose continue token never changes is an error", async () => {
    const world = new World({ pageSize: 1 });
    const page = JSON.stringify({
      kind: "GreetingList",
      apiVersion: "example.org/v1",
      metadata: { resourceVersion: "5", continue: "again" },
      items: [],
    });
    world.api.intercept({
      fault: { type: "text", text: page, contentType: "application/json" },
      verbs: ["list"],
    });
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.clock.sleep(10_000);
      expect(status(world).lastError?.message).toBe(
        "the list GET /apis/example.org/v1/greetings repeats a continue token",
      );
    });
    expect(world.requests("list").length).toBeLessThan(20);
  });
});

describe("a second page of a list", () => {
  it.each([
    ["without a version", {}, "must have metadata.resourceVersion, got none"],
    ["of an older version", { resourceVersion: "1" }, "has a page of an older version: 1 after 3"],
  ])("%s is an error", async (_, metadata, message) => {
    const world = new World({ pageSize: 1 });
    await world.put("ann", "hello");
    await world.put("bob", "hello");
    const text = JSON.stringify({ kind: "GreetingList", metadata, items: [] });
    const when: FaultRule["when"] = ({ query }) => query.has("continue");
    world.api.intercept({ fault: { type: "text", text, contentType: "application/json" }, when });
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.clock.sleep(10_000);
      expect(status(world)).toMatchObject({ hasSynced: false });
      expect(status(world).lastError?.message).toBe(
        `the list GET /apis/example.org/v1/greetings ${message}`,
      );
    });
  });
});
