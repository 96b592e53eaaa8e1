import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  isConnectionError,
  KubeClient,
  type KubeWatchEvent,
  type KubeWatchOptions,
  metadataOf,
} from "@holdfast/kubernetes";
import { isTimeoutError } from "@holdfast/wait";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { quietLogger } from "../secrets.ts";
import { scriptedTransport } from "./scripted-transport.ts";

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const namespace = "default";

class World {
  readonly clock = new FakeClock();
  readonly api = new FakeApi({ clock: this.clock, resources: [ConfigMap] });
  readonly client = new KubeClient({
    transport: this.api.transport,
    clock: this.clock,
    logger: quietLogger(),
  });
  readonly stop = new AbortController();
  readonly seen: string[] = [];
  readonly #start = this.clock.monotonic();

  /** Milliseconds since the world began. */
  get now(): number {
    return this.clock.monotonic() - this.#start;
  }

  async put(name: string, app: string): Promise<string> {
    const metadata = { name, namespace, labels: { app } };
    return (await this.api.client.apply(ConfigMap, { metadata })).metadata.resourceVersion;
  }

  /** Follows a watch until it ends. */
  async follow(options: KubeWatchOptions = {}, resource = ConfigMap): Promise<void> {
    const { signal } = this.stop;
    for await (const event of this.client.watch(resource, { signal, ...options }))
      this.seen.push(`${this.now} ${textOf(event)}`);
    this.seen.push(`${this.now} end`);
  }

  /** Nothing of the watch is left: no timer, no listener, no connection. */
  expectNothingLeft(): void {
    expect([this.clock.pending(), abortListeners(this.stop.signal)]).toEqual([[], 0]);
  }
}

function textOf({ type, object }: KubeWatchEvent): string {
  const { name, labels = {} } = object?.metadata ?? {};
  return object === undefined ? type : `${type} ${name} ${labels["app"]}`;
}

describe("a watch of a client", () => {
  it("yields the objects that exist, then each change, and ends when the server closes it", async () => {
    const world = new World();
    await world.put("ann", "a");
    await world.clock.run(async () => {
      const following = world.follow();
      await world.clock.sleep(1_000);
      await world.put("ann", "b");
      await world.put("bob", "a");
      await world.clock.sleep(1_000);
      await world.api.client.delete(ConfigMap, "default/ann");
      await following;
    });
    expect(world.seen).toEqual([
      "0 ADDED ann a",
      "1000 MODIFIED ann b",
      "1000 ADDED bob a",
      "2000 DELETED ann b",
      "300000 end",
    ]);
    world.expectNothingLeft();
  });

  it("goes on from the version of an event, in a namespace, by labels and by fields", async () => {
    const world = new World();
    const resourceVersion = await world.put("ann", "a");
    await world.put("ann", "b");
    await world.put("bob", "b");
    await world.put("ann", "c");
    const fields = { "metadata.name": "ann" };
    const options = { resourceVersion, namespace, labels: { app: ["a", "b"] }, fields };
    await world.clock.run(() => world.follow(options));
    expect(world.seen).toEqual(["0 MODIFIED ann b", "0 DELETED ann b", "300000 end"]);
    const [query] = world.api.requests.filter(({ verb }) => verb === "watch");
    expect(Object.fromEntries(query?.query ?? [])).toEqual({
      watch: "true",
      resourceVersion,
      timeoutSeconds: "300",
      labelSelector: "app in (a,b)",
      fieldSelector: "metadata.name=ann",
    });
  });

  it("yields bookmarks with the server's version if they are asked for", async () => {
    const world = new World();
    const resourceVersion = await world.put("ann", "a");
    const metadata = { name: "elsewhere", namespace: "other" };
    const events: KubeWatchEvent[] = [];
    const other = await world.clock.run(async () => {
      const change = world.clock
        .sleep(1_000)
        .then(() => world.api.client.create(ConfigMap, { metadata }));
      const options = { resourceVersion, namespace, bookmarks: true };
      for await (const event of world.client.watch(ConfigMap, options)) events.push(event);
      return await change;
    });
    expect(events[0]).toEqual({
      type: "BOOKMARK",
      resourceVersion: other.metadata.resourceVersion,
    });
  });

  it("of metadata yields metadata", async () => {
    const world = new World();
    await world.put("ann", "a");
    const watch = world.client.watch(metadataOf(ConfigMap));
    const { value } = await watch.next();
    expect(value).toMatchObject({
      type: "ADDED",
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ann" } },
    });
    expect(Object.keys(value?.object ?? {})).toEqual(["apiVersion", "kind", "metadata"]);
    await watch.return();
    world.expectNothingLeft();
  });

  it("leaves nothing when its loop is left, or its iteration never begun", async () => {
    const world = new World();
    await world.put("ann", "a");
    world.client.watch(ConfigMap, { signal: world.stop.signal });
    for await (const _ of world.client.watch(ConfigMap, { signal: world.stop.signal })) break;
    expect(world.api.requests.filter(({ verb }) => verb === "watch")).toHaveLength(1);
    world.expectNothingLeft();
  });
});

describe("an abort of a watch rejects with its reason", () => {
  const reason = new Error("enough");

  it.each(["before it", "during the request", "between two events", "while it waits"])(
    "%s, at once",
    async (when) => {
      const world = new World();
      await world.put("ann", "a");
      await world.put("bob", "a");
      const { signal } = world.stop;
      if (when === "during the request") world.api.intercept({ fault: { type: "stall" } });
      const watch = world.client.watch(ConfigMap, { signal });
      const error = await world.clock.run(async () => {
        if (when === "before it") world.stop.abort(reason);
        if (when === "between two events" || when === "while it waits") await watch.next();
        if (when === "while it waits") await watch.next();
        const next = errorOf(watch.next());
        if (when === "between two events") {
          await next;
          world.stop.abort(reason);
          return await errorOf(watch.next());
        }
        await world.clock.sleep(10);
        world.stop.abort(reason);
        return await next;
      });
      expect(error).toBe(reason);
      expect(world.now).toBeLessThanOrEqual(10);
      world.expectNothingLeft();
    },
  );
});

it("an abort of a watch drops the events that have arrived", async () => {
  const event = (name: string) =>
    JSON.stringify({
      type: "ADDED",
      object: { metadata: { name, uid: "u", resourceVersion: "7" } },
    });
  const { transport } = scriptedTransport({ body: `${event("ann")}\n${event("bob")}\n` });
  const client = new KubeClient({ transport, logger: quietLogger() });
  const stop = new AbortController();
  const reason = new Error("enough");
  const watch = client.watch(ConfigMap, { signal: stop.signal });
  expect((await watch.next()).value?.object?.metadata.name).toBe("ann");
  stop.abort(reason);
  expect(await errorOf(watch.next())).toBe(reason);
  expect(abortListeners(stop.signal)).toBe(0);
});

describe("a watch fails", () => {
  it("with 410 from a version that the server has forgotten, in the status or in an event", async () => {
    const world = new World();
    const resourceVersion = await world.put("ann", "a");
    await world.put("ann", "b");
    world.api.compact();
    const error = await errorOf(world.clock.run(() => world.follow({ resourceVersion })));
    expect(error).toMatchObject({ name: "ApiError", status: 410, reason: "Expired" });
    expect(world.seen).toEqual([]);
    world.expectNothingLeft();
  });

  it("with 410 in the middle when the server forgets its version", async () => {
    const world = new World();
    await world.put("ann", "a");
    const status = { kind: "Status", code: 410, reason: "Gone", message: "too old" };
    const line = JSON.stringify({ type: "ERROR", object: status });
    world.api.intercept({
      fault: { type: "line", text: line, after: { lines: 1 } },
      verbs: ["watch"],
    });
    const error = await errorOf(world.clock.run(() => world.follow()));
    expect(error).toMatchObject({ name: "ApiError", status: 410, reason: "Gone" });
    expect(world.seen).toEqual(["0 ADDED ann a"]);
    world.expectNothingLeft();
  });

  it("with a ConnectionError when the connection breaks", async () => {
    const world = new World();
    await world.put("ann", "a");
    world.api.intercept({ fault: { type: "reset", after: { lines: 1 } }, verbs: ["watch"] });
    const error = await errorOf(world.clock.run(() => world.follow()));
    expect([isConnectionError(error), world.seen]).toEqual([true, ["0 ADDED ann a"]]);
    world.expectNothingLeft();
  });

  it("with a timeout when the server is silent before its response, or for a minute after its end", async () => {
    for (const [after, ends] of [
      [undefined, 30_000],
      [{ lines: 1 }, 360_000],
    ] as const) {
      const world = new World();
      await world.put("ann", "a");
      world.api.intercept({ fault: { type: "stall", after }, verbs: ["watch"] });
      const error = await errorOf(world.clock.run(() => world.follow()));
      expect([isTimeoutError(error), world.now]).toEqual([true, ends]);
      // A timer has made it: its own stack would show no caller.
      expect((error as Error).stack).toContain("World.follow");
      world.expectNothingLeft();
    }
  });

  it("only after the retries of a server that is busy", async () => {
    const world = new World();
    await world.put("ann", "a");
    const fault = { type: "status", status: 429, retryAfter: 2 } as const;
    world.api.intercept({ fault, verbs: ["watch"], times: 1 });
    await world.clock.run(() => world.follow());
    expect(world.seen).toEqual(["2000 ADDED ann a", "302000 end"]);
    world.api.intercept({ fault, verbs: ["watch"] });
    const error = await errorOf(world.clock.run(() => world.follow({ retries: 1 })));
    expect(error).toMatchObject({ name: "ApiError", status: 429 });
    world.expectNothingLeft();
  });
});
