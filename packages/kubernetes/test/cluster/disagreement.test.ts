import type { KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { Greeting, greeting, lateBy, onWatches, texts, World } from "./cluster-kit.ts";

/** A way on which watches leave out every event that has a text. */
function without(text: string) {
  return onWatches((answer) => ({ ...answer, body: withoutLines(answer.body, text) }));
}

async function* withoutLines(body: AsyncIterable<Uint8Array>, text: string) {
  for await (const chunk of body) if (!Buffer.from(chunk).includes(text)) yield chunk;
}

describe("an own write", () => {
  it("is visible during the first list", async () => {
    const world = new World();
    await world.run(async () => {
      world.api.intercept({ fault: { type: "delay", delay: 5_000 }, verbs: ["list"], times: 1 });
      const informer = world.cluster.watch(Greeting);
      await world.clock.sleep(1_000);
      await world.cluster.client.create(Greeting, greeting("ann", "hello"));
      expect([informer.get("default/ann")?.spec?.text, informer.hasSynced]).toEqual([
        "hello",
        false,
      ]);
      // Whatever else it lacks may be on the server.
      for (const read of [() => informer.get("default/bob"), () => informer.list()])
        expect(read).toThrow("informer of greetings.example.org has not synced");
      await world.cluster.ready(world.stop.signal);
      expect(texts(informer)).toEqual(["ann: hello"]);
    });
  });

  it("undone by a restore is forgotten", async () => {
    const world: World = new World({ way: lateBy(() => world.clock, 60_000) });
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.clock.sleep(61_000);
      const snapshot = world.api.snapshot();
      await world.cluster.client.patch(Greeting, "default/ann", { spec: { text: "lost" } });
      await world.cluster.client.create(Greeting, greeting("bob", "lost"));
      expect(texts(informer)).toEqual(["ann: lost", "bob: lost"]);
      world.api.stop();
      world.api.restore(snapshot);
      await world.clock.sleep(1_000);
      await world.api.start();
      await world.clock.sleep(120_000);
      expect(texts(informer)).toEqual(["ann: hello"]);
    });
  });

  it("whose event never arrives is corrected by a list when the watch has passed it", async () => {
    const world = new World({ way: without("good day") });
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.cluster.client.patch(Greeting, "default/ann", { spec: { text: "good day" } });
      await world.put("bob", "hello");
      await world.clock.sleep(1);
      expect(texts(informer)).toEqual(["ann: good day", "bob: hello"]);
    });
    expect(world.requests("list")).toHaveLength(2);
  });

  it("whose response arrives after the watch has passed it without its event is corrected by a list", async () => {
    const slow = ({ description, send }: KubeTransport): KubeTransport => ({
      description,
      async send(request, signal) {
        const answer = await send(request, signal);
        if (request.method === "PATCH") await world.clock.sleep(1_000);
        return answer;
      },
    });
    const world: World = new World({ way: (transport) => slow(without("good day")(transport)) });
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.clock.sleep(1);
      const write = world.cluster.client.patch(Greeting, "default/ann", {
        spec: { text: "good day" },
      });
      await world.clock.sleep(1);
      await world.put("bob", "hello");
      await write;
      await world.clock.sleep(1);
      expect(texts(informer)).toEqual(["ann: good day", "bob: hello"]);
    });
  });

  it("is read after a bookmark has passed it, even while lists are refused", async () => {
    const overtaken = ({ description, send }: KubeTransport): KubeTransport => ({
      description,
      async send(request, signal) {
        const response = await send(request, signal);
        if (request.method === "POST") await world.clock.sleep(61_000); // a bookmark comes first
        return response;
      },
    });
    const world: World = new World({ way: (transport) => overtaken(without("own")(transport)) });
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.cluster.ready(world.stop.signal);
      await world.clock.sleep(1);
      const { client } = world.cluster;
      const created = client.create(Greeting, greeting("ann", "own"), { timeout: 100_000 });
      await world.clock.sleep(1);
      const refused = world.api.intercept({
        fault: { type: "status", status: 503 },
        verbs: ["list"],
      });
      await created;
      expect(texts(informer)).toEqual(["ann: own"]);
      await world.clock.sleep(60_000);
      expect(texts(informer)).toEqual(["ann: own"]);
      refused[Symbol.dispose]();
      await world.clock.sleep(30_000);
      expect(texts(informer)).toEqual(["ann: own"]);
      expect(informer.hasSynced).toBe(true);
    });
    const whole = world.asked("list").filter(({ query }) => query.get("limit") !== "1");
    expect(whole.length).toBeGreaterThan(1);
  });
});

it("a deferred probe is still due after its delay", async () => {
  const world = new World();
  await world.run(async () => {
    const informer = world.cluster.watch(Greeting);
    await world.put("ann", "hello");
    await world.cluster.ready(world.stop.signal);
    const snapshot = world.api.snapshot();
    await world.put("ann", "lost");
    await world.clock.sleep(1);
    world.api.stop();
    world.api.restore(snapshot);
    await world.clock.sleep(1);
    world.api.intercept({
      fault: { type: "status", status: 429, retryAfter: 2 },
      verbs: ["list"],
      times: 1,
    });
    await world.api.start();
    await world.clock.sleep(20_000);
    expect(texts(informer)).toEqual(["ann: hello"]);
  });
});
