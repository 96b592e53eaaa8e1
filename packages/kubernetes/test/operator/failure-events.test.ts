import { FakeClock } from "@holdfast/clock/testing";
import { type Source, TerminalError } from "@holdfast/controller";
import { builtIn, finalize, type KubeObject, type OperatorContext } from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Greeting, OperatorWorld } from "./operator-world.ts";

interface EventObject extends KubeObject {
  reason: string;
  type: string;
  note: string;
  regarding: { kind: string; name: string; uid: string };
  series?: { count: number };
}

const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

let clock: FakeClock;
let world: OperatorWorld;
/** The outcome of the next reconciles: an error, or none. */
let fails: (attempt: number) => unknown;

beforeEach(async () => {
  clock = new FakeClock();
  world = new OperatorWorld(clock);
  fails = () => undefined;
  await world.greet("ann");
});

function start(more: object = {}, hasEvents = true) {
  return world.start("a", {
    leaderElection: false,
    setup({ cluster, controller }: OperatorContext) {
      const greetings = cluster.watch(Greeting);
      return () => [
        controller({
          name: "greeter",
          sources: [greetings.source()],
          ...(hasEvents && { failureEvents: greetings }),
          reconcile({ key, attempt }) {
            if (key !== "default/ann") throw new Error("no object has this key");
            const error = fails(attempt);
            if (error !== undefined) throw error;
            return { requeueAfter: 60_000 };
          },
          ...more,
        }),
      ];
    },
  });
}

/** Type, reason and note of each Event, by the time of its creation. */
async function events(): Promise<string[]> {
  const found: EventObject[] = [];
  for await (const event of world.client.list(Event)) found.push(event);
  return found
    .sort((a, b) => Number(a.metadata?.resourceVersion) - Number(b.metadata?.resourceVersion))
    .map(({ type, reason, note, series }) => `${type} ${reason}: ${note} ${series?.count ?? 1}`);
}

describe("failureEvents of a controller", () => {
  it("records why the clean-up of a deleted object fails", async () => {
    const setup = ({ client, cluster, controller }: OperatorContext) => {
      const greetings = cluster.watch(Greeting);
      return () => [
        controller({
          name: "greeter",
          sources: [greetings.source()],
          failureEvents: greetings,
          reconcile({ key, signal }) {
            const greeting = greetings.get(key);
            if (greeting === undefined) return undefined;
            return finalize(client, Greeting, greeting, {
              finalizer: "example.org/record",
              apply: () => undefined,
              cleanup: () => {
                throw new Error("the DNS provider is down");
              },
              signal,
            });
          },
        }),
      ];
    };
    world.start("a", { leaderElection: false, setup });
    await clock.step(10_000);
    await world.client.delete(Greeting, "default/ann");
    await clock.step(60_000);
    expect(await events()).toEqual(["Warning ReconcileFailed: the DNS provider is down 1"]);
    const { metadata } = await world.client.get(Greeting, "default/ann");
    expect(metadata.finalizers).toEqual(["example.org/record"]);
  });

  it("records the first failure, a change of its text, and the recovery", async () => {
    const texts = ["used: 1 of 4", "used: 2 of 4", "used: 3 of 4", "no route", "no route"];
    fails = () => {
      const text = texts.shift();
      return text === undefined ? undefined : new Error(text);
    };
    start();
    await clock.step(120_000);
    expect(await events()).toEqual([
      "Warning ReconcileFailed: used: 1 of 4 1",
      "Warning ReconcileFailed: no route 1",
      "Normal Reconciled: reconciled after a failure 1",
    ]);
    const { value: event } = await world.client.list(Event).next();
    const { uid } = (await world.client.get(Greeting, "default/ann")).metadata;
    expect(event?.regarding).toMatchObject({ kind: "Greeting", name: "ann", uid });
    await world.end();
  });

  it("has the name of an error without a message, and the text of what is no error", async () => {
    const thrown = [new TypeError(""), "no route", undefined];
    fails = () => thrown.shift();
    start();
    await clock.step(120_000);
    expect(await events()).toEqual([
      "Warning ReconcileFailed: TypeError 1",
      "Warning ReconcileFailed: no route 1",
      "Normal Reconciled: reconciled after a failure 1",
    ]);
    await world.end();
  });

  it("leaves out the failure of a source", async () => {
    const onError = vi.fn();
    const broken: Source = {
      name: "broken",
      start() {
        throw new Error("no queue");
      },
    };
    start({ onError, sources: [broken] });
    await clock.step(10_000);
    expect(onError.mock.calls.map(([, { kind }]) => kind)).toContain("source");
    expect(await events()).toEqual([]);
    await world.end();
  });

  it("repeats the Event of a failure that lasts, every half an hour", async () => {
    fails = () => new TerminalError("bad text");
    start();
    await clock.step(1_000);
    for (let minute = 1; minute < 120; minute++) {
      await world.client.patch(Greeting, "default/ann", { spec: { name: `${minute}` } });
      await clock.step(60_000);
    }
    expect(await events()).toEqual(Array(4).fill("Warning ReconcileFailed: bad text 1"));
    await world.end();
  });

  it("counts texts that alternate, within the limits of the recorder", async () => {
    fails = (attempt) => new Error(attempt % 2 === 0 ? "even" : `odd${"!".repeat(2_000)}`);
    start();
    await clock.step(60_000);
    const found = await events();
    expect(found.map((line) => line.slice(0, 28))).toEqual([
      "Warning ReconcileFailed: odd",
      "Warning ReconcileFailed: eve",
    ]);
    expect(found[0]?.length).toBeLessThan(1_100);
    await world.end();
  });

  it("records nothing of a success, an object that is gone, a key of none, or a stop", async () => {
    const onError = vi.fn();
    const keys: Source = {
      name: "keys",
      start({ enqueue }) {
        enqueue("default/gone");
        enqueue("a/b/c");
      },
    };
    const replica = start({ onError, sources: [keys] });
    await clock.step(10_000);
    const failed = onError.mock.calls.map(([, { kind, key }]) => `${kind} ${key}`);
    expect([...new Set(failed)]).toEqual(["reconcile default/gone", "reconcile a/b/c"]);
    replica.stop.abort("stop");
    await clock.step(60_000);
    expect(world.lines.map(([, line]) => line)).not.toContain("a: invalid event dropped");
    expect(await events()).toEqual([]);
    await world.end();
  });

  it("takes no reconcile that was aborted for a recovery", async () => {
    const runs: number[] = [];
    start({
      timeout: 1_000,
      async reconcile() {
        runs.push(world.now);
        if (runs.length === 1) throw new Error("no route");
        if (runs.length === 2) await clock.sleep(2_000);
        return { requeueAfter: 60_000 };
      },
    });
    await clock.step(30_000);
    expect([runs.length, await events()]).toEqual([2, ["Warning ReconcileFailed: no route 1"]]);
    await clock.step(60_000);
    expect((await events())[1]).toBe("Normal Reconciled: reconciled after a failure 1");
    await world.end();
  });

  it("is off by default", async () => {
    fails = () => new Error("no route");
    start({}, false);
    await clock.step(60_000);
    expect(await events()).toEqual([]);
    await world.end();
  });

  it.each([
    [{ failureEvents: 7 }, /options\.failureEvents/],
    [{ reconcile: 7 }, /options\.reconcile/],
    [{ onError: 7 }, /options\.onError/],
  ])("refuses %j", async (more, message) => {
    const replica = start(more);
    await clock.step(1_000);
    expect(String(replica.error) + String((replica.error as AggregateError).errors)).toMatch(
      message,
    );
  });
});
