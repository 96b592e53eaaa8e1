import { Controller, Manager, silentLogger } from "@holdfast/controller";
import type { Fault } from "@holdfast/fake-apiserver";
import { customResource } from "@holdfast/kubernetes";
import { Backoff } from "@holdfast/wait";
import { describe, expect, inject, it } from "vitest";
import {
  ConfigMap,
  closingAfter,
  follow,
  Greeting,
  greeting,
  onWatches,
  texts,
  World,
} from "./cluster-kit.ts";

/** An informer with one greeting, whose watch is open. */
async function synced(world: World) {
  await world.put("ann", "hello");
  const informer = world.cluster.watch(Greeting);
  await world.cluster.ready(world.stop.signal);
  await world.clock.sleep(0);
  return informer;
}

const statuses = [400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 502, 503, 504];
const faults: [string, Fault][] = [
  ...statuses.map((status): [string, Fault] => [`status ${status}`, { type: "status", status }]),
  ["status 429 with a time", { type: "status", status: 429, retryAfter: 3 }],
  ["status 503 with a time", { type: "status", status: 503, retryAfter: 3 }],
  ["a refused connection", { type: "reject" }],
  ["a reset before the answer", { type: "reset" }],
  ["a reset within the answer", { type: "reset", after: { bytes: 10 } }],
  ["a lost answer", { type: "drop" }],
  ["an empty answer", { type: "close" }],
  ["half an answer", { type: "close", after: { bytes: 10 } }],
  ["a page of HTML", { type: "text", text: "<html>sign in</html>" }],
  ["no answer", { type: "stall" }],
];

describe("only the signal ends an informer", () => {
  it.each(faults)("it shows a change after %s, to its list and to its watch", async (_, fault) => {
    for (const times of [1, 3]) {
      const world = new World();
      await world.run(async () => {
        world.api.intercept({ fault, verbs: ["list"], times });
        const informer = await synced(world);
        world.api.intercept({ fault, verbs: ["watch"], times });
        world.api.intercept({
          fault: { type: "reset", after: { lines: 1 } },
          verbs: ["watch"],
          times: 1,
        });
        await world.clock.sleep(300_000);
        await world.put("ann", "good day");
        await world.put("bob", "hello");
        await world.clock.sleep(300_000);
        await world.put("cat", "hello");
        await world.clock.sleep(300_000);
        expect(texts(informer)).toEqual(["ann: good day", "bob: hello", "cat: hello"]);
      });
    }
  });
});

it("ready waits while a list is forbidden, and the status shows the reason", async () => {
  const world = new World();
  await world.run(async () => {
    const forbidden = world.api.intercept({
      fault: { type: "status", status: 403, message: "greeter may not list greetings" },
    });
    const informer = world.cluster.watch(Greeting);
    let isReady = false;
    const ready = world.cluster.ready(world.stop.signal).then(() => {
      isReady = true;
    });
    await world.clock.sleep(600_000);
    expect([isReady, informer.hasSynced]).toEqual([false, false]);
    const [status] = world.cluster.status().informers[0]?.reflectors ?? [];
    expect(status?.lastError?.message).toBe(
      "GET /apis/example.org/v1/greetings: 403 Forbidden: greeter may not list greetings",
    );
    forbidden[Symbol.dispose]();
    await ready;
    expect(world.now).toBeLessThan(620_000);
    expect(informer.hasSynced).toBe(true);
  });
});

it.each([
  ["options", { duration: 3_000, factor: 2, cap: 6_000 }],
  ["a strategy", new Backoff({ duration: 3_000, factor: 2, cap: 6_000 })],
])("lists again after the delays of backoff, given as %s", async (_, backoff) => {
  const world = new World({ backoff });
  await world.run(async () => {
    world.api.intercept({
      fault: { type: "status", status: 403, message: "greeter may not list greetings" },
      verbs: ["list"],
    });
    world.cluster.watch(Greeting);
    await world.clock.sleep(16_000);
    expect(world.requests("list").map(([, at]) => at)).toEqual([0, 3_000, 9_000, 15_000]);
  });
});

it("an account that may list but not watch keeps its cache by lists", async () => {
  const world = new World();
  await world.run(async () => {
    world.api.intercept({
      fault: { type: "status", status: 403, message: "greeter may not watch greetings" },
      verbs: ["watch"],
    });
    const informer = world.cluster.watch(Greeting);
    await world.cluster.ready(world.stop.signal);
    for (let minute = 0; minute < 20; minute++) {
      await world.put("ann", `${minute}`);
      await world.clock.sleep(60_000);
      const [status] = world.cluster.status().informers[0]?.reflectors ?? [];
      expect(texts(informer)).toEqual([`ann: ${minute}`]);
      expect(status?.silentFor).toBeLessThan(60_000);
      expect(status?.lastError).toMatchObject({
        phase: "watch",
        message:
          "GET /apis/example.org/v1/greetings: 403 Forbidden: greeter may not watch greetings",
      });
    }
  });
});

describe("a time that a 429 or a 503 names", () => {
  it.each([
    ["429", 0, 30_000],
    ["429", 0.5, 33_000],
    ["503", 1, 36_000],
  ])(
    "of %s, plus up to 20 %%, is respected: no request is sent before",
    async (status, drawn, at) => {
      const world = new World({ random: () => drawn });
      world.api.intercept({
        fault: { type: "status", status: Number(status), retryAfter: 30 },
        times: 1,
      });
      await world.run(async () => {
        world.cluster.watch(Greeting);
        await world.cluster.ready(world.stop.signal);
      });
      expect(world.requests("list")).toEqual([
        ["list", 0],
        ["list", at],
      ]);
    },
  );
});

describe("a server that closes every watch", () => {
  it.each([
    ["the shortest delays", 0],
    ["the longest delays", 1],
  ])("at once gets at most 8 requests in 8 s and 14 in 60 s, with %s", async (_, drawn) => {
    const world = new World({ random: () => drawn });
    world.api.intercept({ fault: { type: "close" }, verbs: ["watch"] });
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.clock.sleep(60_000);
    });
    const times = world.requests().map(([, at]) => at);
    expect(times.filter((at) => at < 8_000).length).toBeLessThanOrEqual(8);
    expect(times.length).toBeLessThanOrEqual(14);
  });

  it("after an event gets at most 5 watches before the backoff", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = await synced(world);
      world.api.intercept({ fault: { type: "close", after: { lines: 1 } }, verbs: ["watch"] });
      for (let at = 0; at < 100; at++) {
        await world.put("ann", `${at}`);
        await world.clock.sleep(80);
      }
      expect(world.requests("watch").length).toBeLessThanOrEqual(9);
      await world.clock.sleep(30_000);
      expect(texts(informer)).toEqual(["ann: 99"]);
    });
  });

  it("after 6 s delays no event, however quiet it is", async () => {
    const world: World = new World({ way: closingAfter(() => world.clock, 6_000) });
    await world.run(async () => {
      const informer = await synced(world);
      for (let at = 0; at < 100; at++) {
        // Right after a close, for a while; most watches bring nothing.
        await world.clock.sleep(18_001);
        await world.put("ann", `${at}`);
        const before = world.now;
        await world.clock.sleep(0);
        expect([texts(informer), world.now]).toEqual([[`ann: ${at}`], before]);
      }
    });
    expect(world.requests("list")).toHaveLength(1);
    expect(world.requests("watch")).toHaveLength(301);
  });

  it("after an event is watched again at once", async () => {
    const world = new World();
    await world.run(async () => {
      await synced(world);
      world.api.intercept({
        fault: { type: "close", after: { lines: 1 } },
        verbs: ["watch"],
        times: 1,
      });
      world.api.stop();
      await world.api.start();
      await world.clock.sleep(2_000);
      await world.put("ann", "good day");
      await world.clock.sleep(0);
      expect(world.requests("watch").map(([, at]) => at)).toEqual([0, 400, 2_000]);
    });
  });

  it("from an old version, instead of a 410, is listed after the third", async () => {
    const world = new World();
    await world.run(async () => {
      const informer = await synced(world);
      const old = world.asked("watch")[0]?.query.get("resourceVersion");
      world.api.intercept({
        fault: { type: "close" },
        verbs: ["watch"],
        when: ({ query }) => query.get("resourceVersion") === old,
      });
      world.api.stop();
      await world.put("bob", "missed").catch(() => {});
      await world.api.start();
      await world.put("bob", "hello");
      await world.clock.sleep(20_000);
      expect(texts(informer)).toEqual(["ann: hello", "bob: hello"]);
      const requests = world.requests().map(([verb]) => verb);
      // The second list is the probe after the reset, which was the first of the three.
      expect(requests).toEqual(["list", "watch", "list", "watch", "watch", "list", "watch"]);
    });
  });
});

it("a half-open connection is abandoned after 90 s without a byte", async () => {
  const world = new World();
  world.api.intercept({
    fault: { type: "stall", after: { bytes: 0 } },
    verbs: ["watch"],
    times: 1,
  });
  await world.run(async () => {
    const informer = await synced(world);
    await world.put("ann", "good day");
    await world.clock.sleep(89_999);
    expect(texts(informer)).toEqual(["ann: hello"]);
    await world.clock.sleep(2);
    expect(texts(informer)).toEqual(["ann: good day"]);
  });
  expect(world.requests("watch")).toEqual([
    ["watch", 0],
    ["watch", 90_000],
  ]);
});

it("a byte within 90 s keeps a connection, even of an incomplete line, as long as a watch may last", async () => {
  const world: World = new World({
    way: onWatches((answer, signal) => ({ ...answer, body: drip(signal) })),
  });
  async function* drip(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (;;) {
      await world.clock.sleep(89_000, { signal });
      yield Buffer.from(" ");
    }
  }
  await world.run(async () => {
    await synced(world);
    await world.clock.sleep(359_999);
    expect(world.requests("watch")).toHaveLength(1);
  });
});

it("after a 410 it lists and reports deletions that it missed, and another UID as a deletion and an addition", async () => {
  const world = new World();
  await world.run(async () => {
    const informer = await synced(world);
    await world.put("bob", "hello");
    await world.put("cat", "hello");
    await world.clock.sleep(0);
    const changes = follow(informer, world.stop.signal);
    changes.length = 0;
    // The watch comes back only after the history is lost.
    const refused = world.api.intercept({ fault: { type: "reject" }, verbs: ["watch", "list"] });
    world.api.stop();
    await world.api.start();
    await world.others.delete(Greeting, "default/ann");
    await world.others.delete(Greeting, "default/bob");
    await world.put("bob", "again");
    await world.put("cat", "good day");
    world.api.compact();
    refused[Symbol.dispose]();
    await world.clock.sleep(30_000);
    expect(changes).toEqual([
      ...["deleted ann: hello (guess)", "deleted bob: hello (guess)"],
      ...["added bob: again", "updated cat: good day"],
    ]);
  });
});

it("a 410 loop backs off", async () => {
  const world = new World();
  world.api.intercept({ fault: { type: "status", status: 410 }, verbs: ["watch"] });
  await world.run(async () => {
    world.cluster.watch(Greeting);
    await world.clock.sleep(60_000);
  });
  // 0, 0.4, 1.2, 2.8, 6, 12.4, then every 10 s.
  expect(world.requests("list").map(([, at]) => at)).toEqual([
    ...[0, 400, 1_200, 2_800, 6_000, 12_400, 22_400, 32_400, 42_400, 52_400],
  ]);
});

it("the probe detects a restore of the server's data, and the cache is equal again", async () => {
  const world = new World();
  await world.run(async () => {
    const informer = await synced(world);
    const snapshot = world.api.snapshot();
    await world.put("ann", "lost");
    await world.put("bob", "lost");
    await world.clock.sleep(0);
    expect(texts(informer)).toEqual(["ann: lost", "bob: lost"]);
    world.api.stop();
    world.api.restore(snapshot);
    await world.clock.sleep(10_000);
    await world.api.start();
    await world.clock.sleep(20_000);
    expect(texts(informer)).toEqual(["ann: hello"]);
    await world.put("cat", "hello");
    await world.clock.sleep(0);
    expect(texts(informer)).toEqual(["ann: hello", "cat: hello"]);
  });
});

/** Every byte takes seconds. */
const STRIDE = inject("isThorough") ? 1 : 17;

describe("a watch that is cut at any byte of an event", () => {
  it.each(["close", "reset"] as const)("by a %s delivers the event, once", async (type) => {
    let length = 0;
    const measured = async function* (body: AsyncIterable<Uint8Array>) {
      for await (const chunk of body) {
        length = Math.max(length, chunk.length);
        yield chunk;
      }
    };
    const world = new World({
      way: onWatches((answer) => ({ ...answer, body: measured(answer.body) })),
    });
    await world.run(async () => {
      const informer = await synced(world);
      const changes = follow(informer, world.stop.signal);
      await world.put("ann", "text 999");
      await world.clock.sleep(0);
      changes.length = 0;
      const last = length + 1;
      expect(last).toBeGreaterThan(200);
      for (let bytes = 0; bytes <= last; bytes += STRIDE) {
        // The next watch is cut; this one is replaced by it.
        world.api.intercept({ fault: { type, after: { bytes } }, verbs: ["watch"], times: 1 });
        world.api.stop();
        await world.api.start();
        await world.put("ann", `text ${bytes}`);
        await world.clock.sleep(15_000);
        expect([bytes, changes.splice(0)]).toEqual([bytes, [`updated ann: text ${bytes}`]]);
        expect(texts(informer)).toEqual([`ann: text ${bytes}`]);
      }
    });
  });
});

describe("a watch that sends garbage", () => {
  const secret = "s3cret";
  const lines: [string, string][] = [
    ["a line that is not JSON", `{"type":"ADDED","object":{"data":"${secret}"`],
    ["a line of 20 MiB", `"${secret.repeat((20 * 1024 * 1024) / secret.length)}"`],
    ["a number", "7"],
    ["null", "null"],
    ["an event of an unknown type", `{"type":"${secret}","object":{}}`],
    ["an object without metadata", `{"type":"ADDED","object":{"data":"${secret}"}}`],
    ["an object without a UID", `{"type":"ADDED","object":{"metadata":{"name":"${secret}"}}}`],
    ["no object", `{"type":"MODIFIED"}`],
    ["a bookmark without a version", `{"type":"BOOKMARK","object":{"metadata":{}}}`],
    ["an error without a status", `{"type":"ERROR","object":null}`],
    ["brackets without an end", "[".repeat(100_000) + "]".repeat(100_000)],
  ];

  it.each(lines)(
    "%s: is opened again, and its error shows nothing of the line",
    async (_, text) => {
      const world = new World();
      world.api.intercept({
        fault: { type: "line", text, after: { bytes: 0 } },
        verbs: ["watch"],
        times: 2,
      });
      await world.run(async () => {
        const informer = await synced(world);
        await world.clock.sleep(20_000);
        await world.put("ann", "good day");
        await world.clock.sleep(0);
        expect(texts(informer)).toEqual(["ann: good day"]);
        const message = informer && JSON.stringify(world.cluster.status());
        expect(message).toMatch(/"lastError":\{"message":"[^"]{10}/);
        expect(message).not.toContain(secret);
        expect(world.logged.length).toBeGreaterThan(0);
      });
    },
  );
});

/** The warnings of a cluster, as seconds since the world began and details. */
function warned(): [World, [number, object, string][]] {
  const lines: [number, object, string][] = [];
  const warn = (details: object, message: string): void =>
    void lines.push([world.now / 1_000, details, message]);
  const world: World = new World({ logger: { ...silentLogger, warn } });
  world.cluster.watch(Greeting);
  return [world, lines];
}

it("a repeated failure is logged with its text, without the stack of an ApiError", async () => {
  const [world, lines] = warned();
  world.api.intercept({ fault: { type: "status", status: 500 }, verbs: ["list"] });
  await world.run(() => world.clock.sleep(5_000));
  expect(lines.map(([, ...line]) => line)).toEqual([
    [
      {
        resource: "greetings.example.org",
        namespace: undefined,
        phase: "list",
        reason: "GET /apis/example.org/v1/greetings: 500 InternalError: InternalError",
      },
      "list failed; retrying",
    ],
  ]);
});

it("a failure that repeats is logged once a minute with a count, another text at once", async () => {
  const [world, lines] = warned();
  const rule = world.api.intercept({ fault: { type: "status", status: 503 }, verbs: ["list"] });
  await world.run(async () => {
    await world.clock.sleep(3_600_000);
    const { lists = 0 } = world.cluster.status().informers[0]?.reflectors[0] ?? {};
    expect(lists).toBeGreaterThan(180);
    expect(lines.length).toBeLessThanOrEqual(60);
    const counts = lines.map(([, details]) => (details as { count?: number }).count ?? 1);
    const logged = counts.reduce((sum, count) => sum + count, 0);
    expect(lists - logged).toBeLessThan(8); // the first, and those since the last line
    rule[Symbol.dispose]();
    lines.length = 0;
    world.api.intercept({ fault: { type: "reject" }, verbs: ["list"], times: 20 });
    await world.clock.sleep(60_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[1]).toMatchObject({ err: expect.any(Error) });
  });
});

it("an ERROR event that names a time is respected", async () => {
  const status = {
    code: 429,
    reason: "TooManyRequests",
    message: "busy",
    details: { retryAfterSeconds: 7 },
  };
  const text = JSON.stringify({ type: "ERROR", object: status });
  const world = new World();
  world.api.intercept({
    fault: { type: "line", text, after: { bytes: 0 } },
    verbs: ["watch"],
    times: 1,
  });
  await world.run(async () => {
    await synced(world);
    await world.clock.sleep(10_000);
  });
  expect(world.requests("watch").map(([, at]) => at)).toEqual([0, 7_000]);
});

it("begins no reconcile while the second list hangs", async () => {
  const world = new World();
  const { clock, cluster, api } = world;
  const hanging = api.intercept({
    fault: { type: "stall" },
    verbs: ["list"],
    resource: ConfigMap,
  });
  const greetings = cluster.watch(Greeting);
  cluster.watch(ConfigMap);
  const reconciled: string[] = [];
  const controller = new Controller({
    name: "greeter",
    clock,
    sources: [greetings.source()],
    reconcile: ({ key }) => void reconciled.push(key),
  });
  const groups = [{ name: "caches", startTimeout: 600_000 }, { name: "work" }];
  const manager = new Manager({ clock, groups });
  manager.add(cluster, { group: "caches" });
  manager.add(controller, { group: "work" });
  await clock.run(async () => {
    await world.put("ann", "hello");
    const running = manager.run(world.stop.signal);
    await clock.sleep(100_000);
    expect([greetings.hasSynced, reconciled]).toEqual([true, []]);
    hanging[Symbol.dispose]();
    await clock.sleep(120_000);
    expect(reconciled).toEqual(["default/ann"]);
    world.stop.abort();
    await running;
  });
  expect(clock.waiters()).toBe(0);
});

it("a list that the server can no longer page starts over without a limit", async () => {
  const world = new World({ pageSize: 2 });
  await world.run(async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await world.put(name, "hello");
    world.api.intercept({
      fault: () => {
        world.api.compact();
        return undefined;
      },
      verbs: ["list"],
      when: ({ query }) => query.has("continue"),
    });
    world.api.intercept({
      fault: { type: "status", status: 410 },
      verbs: ["list"],
      when: ({ query }) => query.has("continue"),
      times: 1,
    });
    const informer = world.cluster.watch(Greeting);
    await world.cluster.ready(world.stop.signal);
    expect(informer.size).toBe(5);
  });
  expect(world.asked("list").map(({ query }) => query.get("limit"))).toEqual(["2", "2", null]);
});

it("a page above 64 MiB is requested again with half the limit", async () => {
  const tooLong = 65 * 1024 * 1024;
  const world = new World({ pageSize: 4 });
  const { api } = world;
  await world.run(async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await world.put(name, "hello");
    const huge = `{"items":[],"metadata":{"resourceVersion":"1"},"padding":"${" ".repeat(tooLong)}"}`;
    api.intercept({
      fault: { type: "text", text: huge, contentType: "application/json" },
      verbs: ["list"],
      when: ({ query }) => Number(query.get("limit")) > 1,
    });
    const informer = world.cluster.watch(Greeting);
    await world.cluster.ready(world.stop.signal);
    expect(informer.size).toBe(5);
  });
  expect(world.asked("list").map(({ query }) => query.get("limit"))).toEqual([
    ...["4", "2", "1", "1", "1", "1", "1"],
  ]);
});

it("a resource that the server does not have does not end the informer", async () => {
  const world = new World();
  const Missing = customResource({
    apiVersion: "example.org/v1",
    kind: "Missing",
    plural: "missings",
  });
  await world.run(async () => {
    const missing = world.cluster.watch(Missing);
    const informer = world.cluster.watch(Greeting);
    await world.put("ann", greeting("ann", "hello").spec.text);
    await world.clock.sleep(60_000);
    expect([missing.hasSynced, informer.hasSynced]).toEqual([false, true]);
    expect(JSON.stringify(world.cluster.status())).toContain("/missings: 404");
  });
});
