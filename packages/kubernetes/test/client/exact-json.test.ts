import { FakeClock } from "@holdfast/clock/testing";
import { Cluster, customResource, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { type Step, scriptedTransport } from "./scripted-transport.ts";

interface ThingObject extends KubeObject {
  spec: { bytes?: number; sizes?: { max: number }[]; name?: string };
  status?: { used: number };
}
const Thing = customResource<ThingObject>({
  apiVersion: "example.org/v1",
  kind: "Thing",
  plural: "things",
});
const ANN = { namespace: "default", name: "ann" };
const METADATA = `{"namespace":"default","name":"ann","uid":"u","resourceVersion":"7"}`;
const thing = (spec: string, more = ""): string => `{"metadata":${METADATA},"spec":${spec}${more}}`;

function scripted(...bodies: readonly string[]) {
  const clock = new FakeClock();
  const steps = bodies.map((body): Step => ({ body }));
  const { transport, requests } = scriptedTransport(...steps);
  const bodiesSent = () => requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
  return { clock, transport, client: new KubeClient({ transport, clock }), bodiesSent };
}

const LOST: [json: string, field: string][] = [
  [thing('{"bytes":9007199254740993}'), "object.spec.bytes"],
  [thing('{"bytes":-9007199254740993}'), "object.spec.bytes"],
  [thing('{"bytes":9223372036854775807}'), "object.spec.bytes"],
  [thing('{ "bytes" : 1234567890123456789 }'), "object.spec.bytes"],
  [thing('{"sizes":[{"max":1},{"max":9007199254740993}]}'), "object.spec.sizes[1].max"],
];

describe("an integer that JavaScript does not have", () => {
  it.each(LOST)("is not written by any call for the object: %s", async (json, field) => {
    const { client, clock, bodiesSent } = scripted(json);
    const read = await client.get(Thing, ANN);
    const labels = { a: "b" };
    const change = (object: ThingObject): unknown =>
      Object.assign(object.metadata ?? {}, { labels });
    const child = { metadata: { namespace: "default", name: "child" }, spec: read.spec };
    const calls = [
      client.update(Thing, { ...read, metadata: { ...read.metadata, labels } }),
      client.update(Thing, structuredClone(read)),
      clock.run(() => client.modify(Thing, ANN, change)),
      client.create(Thing, child),
      client.apply(Thing, child),
    ];
    for (const call of calls) {
      const error = await errorOf(call);
      expect(error).toBeInstanceOf(RangeError);
      expect(String(error)).toContain(`${field} must be an integer of at most 2^53 - 1, got `);
      expect(String(error)).toContain("patch()");
    }
    expect(bodiesSent()).toEqual([]);
  });

  it("does not stop a patch, a status, and a change of nothing", async () => {
    const { client, clock, bodiesSent } = scripted(
      thing('{"bytes":9007199254740993}', ',"status":{"used":1}'),
    );
    const read = await client.get(Thing, ANN);
    await client.patch(Thing, ANN, { metadata: { labels: { a: "b" } } });
    await client.update(Thing, { ...read, status: { used: 2 } }, { subresource: "status" });
    await client.apply(Thing, { metadata: ANN, status: { used: 2 } }, { subresource: "status" });
    const change = (object: ThingObject): unknown => (object.status = { used: 3 });
    await clock.run(() => client.modify(Thing, ANN, change, { subresource: "status" }));
    await clock.run(() => client.modify(Thing, ANN, () => {}));
    expect(bodiesSent()).toHaveLength(4);
  });

  it("stops a patch that repeats it", async () => {
    const { client, bodiesSent } = scripted(thing('{"bytes":9007199254740993}'));
    const { spec } = await client.get(Thing, ANN);
    const whole = [{ op: "replace", path: "/spec", value: spec }] as const;
    expect(String(await errorOf(client.patch(Thing, ANN, { spec })))).toContain(
      "RangeError: patch.spec.bytes must be an integer of at most 2^53 - 1, got ",
    );
    expect(String(await errorOf(client.patch(Thing, ANN, whole as never)))).toContain(
      "RangeError: patch[0].value.bytes must be an integer of at most 2^53 - 1, got ",
    );
    expect(bodiesSent()).toEqual([]);
  });

  it("stops a status that has it", async () => {
    const { client } = scripted(thing("{}", ',"status":{"used":9007199254740993}'));
    const read = await client.get(Thing, ANN);
    const error = await errorOf(client.update(Thing, read, { subresource: "status" }));
    expect(String(error)).toContain("RangeError: object.status.used must be");
  });

  it("is noticed in a list, and in a cache", async () => {
    const list = (version: number, ...items: string[]): string =>
      `{"kind":"ThingList","apiVersion":"example.org/v1","metadata":{"resourceVersion":"${version}"},"items":[${items.join(",")}]}`;
    const listed = thing('{"bytes":72057594037927937}');
    const { client, transport, clock } = scripted(
      list(7, listed),
      list(7, thing('{"bytes":72057594037927953}')),
    );
    for await (const one of client.list(Thing))
      expect(await errorOf(client.update(Thing, one))).toBeInstanceOf(RangeError);
    const cluster = new Cluster({ transport, clock });
    const things = cluster.watch(Thing);
    const stop = new AbortController();
    await clock.run(async () => {
      const running = cluster.run(stop.signal);
      await cluster.ready(stop.signal);
      const cached = things.get("default/ann") as never;
      expect(await errorOf(client.update(Thing, cached))).toBeInstanceOf(RangeError);
      stop.abort();
      await running;
    });
    expect(clock.waiters()).toBe(0);
  });

  it("is no integer that JavaScript has, no fraction, no text", async () => {
    for (const spec of [
      '{"bytes":9007199254740991}',
      '{"bytes":18014398509481984}',
      '{"bytes":1e300}',
      '{"bytes":0.12345678901234567890}',
      '{"name":"9007199254740995"}',
    ]) {
      const { client, bodiesSent } = scripted(thing(spec));
      await client.update(Thing, await client.get(Thing, ANN));
      expect(bodiesSent()).toHaveLength(1);
    }
  });
});
