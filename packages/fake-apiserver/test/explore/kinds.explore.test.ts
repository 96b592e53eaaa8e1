// One kind of bug a row: the explorer finds it by default, and passes a correct program of the same habit.

import { resync } from "@holdfast/controller";
import type { ExploredContext } from "@holdfast/fake-apiserver";
import { finalize, type OperatorSetup } from "@holdfast/kubernetes";
import { TerminalError } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import {
  ann,
  bob,
  ConfigMap,
  childOf,
  type Exploration,
  expectNoProblem,
  problemOf,
  reconciling,
  report,
  type Scenario,
  Thing,
} from "./kit.ts";

interface Kind {
  readonly habit: string;
  readonly setup: (isCorrect: boolean) => OperatorSetup;
  /** Parts of the report about the one with the bug. */
  readonly found: readonly (string | RegExp)[];
  readonly options?: Partial<Exploration>;
}

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const outside = { namespace: "outside", name: "ann" };
const zoe = { namespace: "default", name: "zoe" };
const finalizer = "example.org/outside";

/** A user who creates ann, and changes it or deletes it five seconds later. */
const thenUser =
  (change: Scenario): Scenario =>
  async (context) => {
    await context.client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
    await context.clock.sleep(5 * SECOND);
    await change(context);
  };

const renamesTwice: Scenario = thenUser(async ({ client, clock }) => {
  for (const name of ["Anna", "Hanna"]) {
    await client.patch(Thing, ann, { spec: { name } });
    await clock.sleep(5 * SECOND);
  }
});

const kinds: Kind[] = [
  {
    habit: "a name with the time",
    setup: (isCorrect) => (context) =>
      reconciling(async (thing, { client, clock }) => {
        if (thing.status?.child !== undefined) return;
        const time = isCorrect ? Date.parse(thing.metadata.creationTimestamp) : clock.now();
        const child = `ann-${time}`;
        await client.apply(ConfigMap, { metadata: childOf(thing, child) });
        await report(context, thing, { child });
      })(context),
    found: [
      /^response lost of step \d+, PATCH configmaps/,
      "configmaps default/ann-* (2): left over",
    ],
  },
  {
    habit: "a password in two places",
    setup: (isCorrect) => (context) => {
      const uid = (context as ExploredContext<undefined>).uid;
      const place = (name: string, password: string | undefined, of: string) =>
        context.client.apply(ConfigMap, {
          metadata: { namespace: "default", name },
          data: { password: password ?? uid(), of },
        });
      return reconciling(async (thing, { client }) => {
        const { name } = thing.spec;
        const old = await client.find(ConfigMap, { namespace: "default", name: "secret" });
        const isNew = old?.data?.["of"] !== name;
        if (!isCorrect && !isNew) return;
        const secret = isNew ? await place("secret", undefined, name) : old;
        await place("database", secret.data?.["password"], isCorrect ? name : "x");
      })(context);
    },
    found: [
      /step \d+, PATCH configmaps default\/database\n/,
      'data.password: expected "<random, in 2 places>", got "<random>"',
    ],
    options: {
      without: ["crash-before-down", "crash-after-down", "event-late", "events-lost"],
      scenario: thenUser(({ client }) => client.patch(Thing, ann, { spec: { name: "Anna" } })),
    },
  },
  {
    habit: "a stamp at the start, and a heartbeat",
    setup: (isCorrect) => (context) => {
      const { client, clock } = context;
      const beat = () => ({
        at: isCorrect ? new Date(clock.now()).toISOString() : `${clock.now()}`,
      });
      const heart = { namespace: "default", name: "heart" };
      return () => [
        context.controller({
          name: "heart",
          sources: [resync({ list: () => ["heart"], interval: 30 * SECOND })],
          async reconcile() {
            await client.apply(ConfigMap, { metadata: heart, data: beat() });
          },
        }),
      ];
    },
    found: ["the program never becomes quiet"],
    options: { scenario: ({ clock }) => clock.sleep(5 * SECOND) },
  },
  {
    habit: "a random name",
    setup: (isCorrect) => (context) => {
      const uid = (context as ExploredContext<undefined>).uid;
      return reconciling(async (thing, { client }) => {
        const name =
          thing.status?.child ?? `ann-${isCorrect ? uid() : globalThis.crypto.randomUUID()}`;
        if (thing.status?.child === undefined) await report(context, thing, { child: name });
        await client.apply(ConfigMap, { metadata: childOf(thing, name) });
      })(context);
    },
    found: ["the program is not deterministic: two runs with the same seed differ at step"],
  },
  {
    habit: "a number by the order of arrival",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        const { client } = context;
        const { name } = thing.metadata;
        if (thing.status?.size !== undefined) return;
        if ((await client.find(ConfigMap, "default/numbers")) === undefined)
          await client.create(ConfigMap, { metadata: { namespace: "default", name: "numbers" } });
        const { data } = await client.modify(ConfigMap, "default/numbers", (map) => {
          map.data ??= {};
          const next = `${Object.keys(map.data).length + 1}`;
          if (!isCorrect || map.data[name] === undefined) map.data[name] = next;
        });
        await report(context, thing, { size: Number(data?.[name]) });
      }),
    found: [
      /^crash before step \d+, PATCH things/,
      'configmaps default/numbers.data.bob: expected "1", got "',
    ],
    options: {
      async scenario({ client, clock }) {
        await client.create(Thing, { metadata: bob, spec: { name: "Bob" } });
        await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
        await clock.sleep(5 * SECOND);
        await client.patch(Thing, bob, { spec: { name: "Bobby" } });
      },
    },
  },
  {
    habit: "a spec that is refused, and the child of the last good one",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        const { size = 1 } = thing.spec;
        if (thing.status?.size === size) return;
        if (!isCorrect) await report(context, thing, { size });
        const data = { size: `${size}` };
        if (size > 0) await context.client.apply(ConfigMap, { metadata: childOf(thing), data });
        if (isCorrect) await report(context, thing, { size });
      }),
    found: [
      /^response lost of step \d+, PATCH things\/status/,
      'configmaps default/ann.data.size: expected "2", got "1"',
    ],
    options: {
      scenario: thenUser(async ({ client, clock }) => {
        await client.patch(Thing, ann, { spec: { size: 2 } });
        await clock.sleep(5 * SECOND);
        await client.patch(Thing, ann, { spec: { size: -1 } });
      }),
    },
  },
  {
    habit: "a child for each edit, so that an edit while nobody looks has none",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const metadata = childOf(thing, `for-${thing.spec.name.toLowerCase()}`);
        await client.apply(ConfigMap, { metadata }).catch((error) => {
          if (isCorrect) throw error;
        });
      }),
    found: [/^conflict at step \d+, PATCH configmaps/, "configmaps default/for-ann: missing"],
    options: {
      scenario: thenUser(({ client }) => client.patch(Thing, ann, { spec: { name: "Anna" } })),
    },
  },
  {
    habit: "tickets by the order of arrival",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        if (thing.status?.child !== undefined) return;
        const held = new Map<string | undefined, string>();
        for await (const { metadata, data } of context.client.list(ConfigMap))
          held.set(data?.["of"], metadata.name);
        const of = thing.metadata.name;
        const child = (isCorrect && held.get(of)) || `ticket-${held.size + 1}`;
        if (!isCorrect || !held.has(of))
          await context.client.create(ConfigMap, { metadata: childOf(thing, child), data: { of } });
        await report(context, thing, { child });
      }),
    found: [/step \d+, PATCH things\/status/, "configmaps default/ticket-"],
    options: {
      async scenario({ client, clock }) {
        for (const metadata of [zoe, bob, ann])
          await client.create(Thing, { metadata, spec: { name: metadata.name } });
        await clock.sleep(5 * SECOND);
      },
    },
  },
  {
    habit: "the last two revisions, numbered by the edits that somebody has seen",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const numbers: number[] = [];
        let latest: string | undefined;
        for await (const { metadata, data } of client.list(ConfigMap)) {
          numbers.push(Number(metadata.name.slice(4)));
          if (numbers.at(-1) === Math.max(...numbers)) latest = data?.["name"];
        }
        const { name } = thing.spec;
        if (latest === name && !isCorrect) return;
        const last = Math.max(0, ...numbers) + (latest === name ? 0 : 1);
        if (latest !== name)
          await client.create(ConfigMap, {
            metadata: childOf(thing, `rev-${last}`),
            data: { name },
          });
        for (const number of numbers)
          if (number < last - 1) await client.delete(ConfigMap, childOf(thing, `rev-${number}`));
      }),
    found: [/POST configmaps default\/rev-3\n|DELETE/, "configmaps default/rev-1: left over"],
    options: { scenario: renamesTwice },
  },
  {
    habit: "a count of the edits that somebody has seen, beside their result",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        const { name } = thing.spec;
        const { child, size = 0 } = thing.status ?? {};
        if (child === name) return;
        const write = context.client.apply(ConfigMap, { metadata: childOf(thing), data: { name } });
        await write.catch((error) => {
          if (isCorrect) throw error;
        });
        await report(context, thing, { child: name, size: size + 1 });
      }),
    found: [/^conflict at step \d+, PATCH configmaps/, "configmaps default/ann"],
    options: { scenario: renamesTwice },
  },
  {
    habit: "an object that stays, and whose maker may come and go while nobody looks",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const { name } = thing.metadata;
        const namespace = "default";
        if (isCorrect) await client.apply(ConfigMap, { metadata: { namespace, name } });
        else await client.create(ConfigMap, { metadata: { namespace, generateName: "a-" } });
      }),
    found: [/^response lost of step \d+, POST configmaps/, "configmaps default/a-* (2): left over"],
    options: { scenario: thenUser(({ client }) => client.delete(Thing, ann)) },
  },
  {
    habit: "runs by the minute, and none for a minute that has passed",
    setup: (isCorrect) => (context) => {
      const { client, clock, cluster, controller } = context;
      const things = cluster.watch(Thing);
      const done = new Set<string>();
      return () => [
        controller({
          name: "things",
          sources: [things.source()],
          async reconcile({ key }) {
            const thing = things.get(key);
            if (thing === undefined) return;
            const age = clock.now() - Date.parse(thing.metadata.creationTimestamp);
            const name = `run-${Math.floor(age / MINUTE)}`;
            if (age >= 3 * MINUTE || (!isCorrect && done.has(name))) return;
            done.add(name);
            await client.apply(ConfigMap, { metadata: childOf(thing, name) });
            return { requeueAfter: MINUTE - (age % MINUTE) };
          },
        }),
      ];
    },
    found: [/^conflict at step \d+, PATCH configmaps/, "configmaps default/run-0: missing"],
  },
  {
    habit: "a child with a generated name, which the cache has or not",
    setup: (isCorrect) => (context) => {
      const maps = context.cluster.watch(ConfigMap);
      return reconciling(async (thing, { client }) => {
        let isThere = maps.size > 0;
        if (isCorrect) for await (const _ of client.list(ConfigMap)) isThere = true;
        const { name: _, ...metadata } = childOf(thing);
        if (!isThere)
          await client.create(ConfigMap, { metadata: { ...metadata, generateName: "a-" } });
      })(context);
    },
    found: [
      /^response lost of step \d+, POST configmaps default\/a-\*; then event-late at step/,
      "configmaps default/a-* (2): left over",
    ],
  },
  {
    habit: "a call at the start whose failure ends the process",
    setup: (isCorrect) => async (context) => {
      const { client } = context;
      const lock = { namespace: "default", name: "lock" };
      if (!isCorrect && (await client.find(ConfigMap, lock))) throw new Error("another one runs");
      await client.apply(ConfigMap, { metadata: lock });
      return reconciling(async (thing) => {
        await client.apply(ConfigMap, { metadata: childOf(thing) });
      })(context);
    },
    found: ["the program failed: another one runs"],
  },
  {
    habit: "a reconcile that throws each time",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        await client.apply(ConfigMap, { metadata: childOf(thing) });
        throw isCorrect ? new TerminalError("the spec says so") : new Error("no luck");
      }),
    found: ["without any fault", "the reconcile of things default/ann still fails: no luck"],
  },
  {
    habit: "a write whose refusal is dropped",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const metadata = { ...childOf(thing), name: isCorrect ? "ann" : "not a name" };
        if ((await client.find(ConfigMap, ann)) === undefined)
          await client.create(ConfigMap, { metadata }).catch((error) => {
            if (isCorrect) throw error;
          });
      }),
    found: ["the program does nothing: every write was refused", "422 Invalid"],
  },
  {
    habit: "a reconcile that waits for itself",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        await client.apply(ConfigMap, { metadata: childOf(thing) });
        if (!isCorrect) await new Promise(() => {});
      }),
    found: ["the reconcile of things default/ann still runs"],
  },
  {
    habit: "a reconcile that only reads, of a source that never fires",
    setup:
      (isCorrect) =>
      ({ cluster, client, controller }) => {
        const things = cluster.watch(Thing, isCorrect ? {} : { namespaces: ["elsewhere"] });
        return () => [
          controller({
            name: "things",
            sources: [things.source()],
            async reconcile({ key }) {
              await client.find(ConfigMap, key);
            },
          }),
        ];
      },
    found: ["the program does nothing: it has no reconcile, no write and no call"],
  },
  {
    habit: "a validator whose failed read is a verdict",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        const taken = await context.client.find(ConfigMap, bob).catch((error) => {
          if (isCorrect) throw error;
          return bob;
        });
        if (taken !== undefined) await report(context, thing, { isReady: false });
      }),
    found: [
      /step \d+, GET configmaps default\/bob\n/,
      'things.example.org default/ann.status: left over, {"isReady":false}',
    ],
  },
  {
    habit: "a sweep by age, whose clock starts with the process",
    setup: (isCorrect) => (context) => {
      const started = context.clock.now();
      const day = 24 * HOUR;
      return reconciling(async (thing, { client, clock }) => {
        const seen = isCorrect ? Date.parse(thing.metadata.creationTimestamp) : started - 1;
        await client.apply(ConfigMap, { metadata: childOf(thing) });
        if (clock.now() - seen >= (isCorrect ? day : 60 * SECOND)) await client.delete(Thing, ann);
      })(context);
    },
    found: [/^event-late at step \d+|^events-lost/, "things.example.org default/ann: missing"],
  },
  {
    habit: "a second attempt whose failure is dropped",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const write = () => client.apply(ConfigMap, { metadata: childOf(thing) });
        await write().catch(() =>
          write().catch((error) => {
            if (isCorrect) throw error;
          }),
        );
      }),
    found: [/; then [\w-]+ at step \d+, PATCH configmaps/, "configmaps default/ann: missing"],
  },
  {
    habit: "a key that is given up after two failures",
    setup: (isCorrect) => (context) => {
      let failures = 0;
      return reconciling(async (thing, { client }) => {
        if (failures > 1 && !isCorrect) return;
        failures += 1;
        await client.apply(ConfigMap, { metadata: childOf(thing) });
        failures = 0;
      })(context);
    },
    found: [/; then [\w-]+ at step \d+, PATCH configmaps/, "configmaps default/ann: missing"],
  },
  {
    habit: "a sweep of volumes without an owner, by the cache",
    setup:
      (isCorrect) =>
      ({ cluster, client, controller }) => {
        const things = cluster.watch(Thing);
        const volumes = cluster.watch(ConfigMap);
        return () => [
          controller({
            name: "volumes",
            sources: [things.source(), volumes.source()],
            async reconcile({ key }) {
              const thing = things.get(key);
              if (thing !== undefined)
                await client.apply(ConfigMap, { metadata: childOf(thing), data: { of: "Bob" } });
              else if (!isCorrect || (await client.find(Thing, key)) === undefined)
                await client.delete(ConfigMap, key);
            },
          }),
        ];
      },
    found: [
      /^event-late at step \d+/,
      "configmaps default/bob was deleted: once, without the fault never",
    ],
    options: {
      async scenario({ client, clock }) {
        await client.create(Thing, { metadata: bob, spec: { name: "Bob" } });
        await client.create(ConfigMap, { metadata: bob, data: { of: "Bob" } }).catch(() => {});
        await clock.sleep(5 * SECOND);
      },
    },
  },
  {
    habit: "a read whose error counts as absence",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const found = await client.find(ConfigMap, ann).catch((error) => {
          if (isCorrect) throw error;
        });
        if (found !== undefined) return;
        await client.apply(
          ConfigMap,
          { metadata: childOf(thing), data: { by: "default" } },
          { force: true },
        );
      }),
    found: [
      /of step \d+, GET configmaps default\/ann\n|^server-error/,
      'expected "user", got "default"',
    ],
    options: {
      scenario: thenUser(async ({ client }) => {
        await client.patch(ConfigMap, ann, { data: { by: "user" } });
        await client.patch(Thing, ann, { spec: { name: "Anna" } });
      }),
    },
  },
  {
    habit: "a list in pages that ends at an error",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        let size = 0;
        if (thing.status !== undefined) return;
        try {
          for await (const map of context.client.list(ConfigMap, { pageSize: 1 }))
            size += map.metadata.namespace === "outside" ? 1 : 0;
        } catch (error) {
          if (isCorrect) throw error;
        }
        await report(context, thing, { size });
      }),
    found: [/LIST configmaps \(next page\)\n/, "status.size: expected 2, got "],
    options: {
      async scenario({ client, clock }) {
        for (const name of ["a", "b"])
          await client.create(ConfigMap, { metadata: { ...outside, name } });
        await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
        await clock.sleep(SECOND);
      },
    },
  },
  {
    habit: "a finalizer that is added after the outside exists",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const { finalizers = [], deletionTimestamp } = thing.metadata;
        const set = (names: string[]) =>
          client.patch(Thing, ann, { metadata: { finalizers: names } });
        if (deletionTimestamp !== undefined) {
          await client.delete(ConfigMap, outside);
          await set([]);
          return;
        }
        if (isCorrect && !finalizers.includes(finalizer)) await set([finalizer]);
        await client.apply(ConfigMap, { metadata: outside });
        if (!isCorrect && !finalizers.includes(finalizer)) await set([finalizer]);
      }),
    found: [
      /^crash, and no replica for a minute, (before|after) step \d+/,
      "configmaps outside/ann: left over",
    ],
    options: {
      without: ["event-late", "events-lost", "scenario-first"],
      scenario: thenUser(({ client }) => client.delete(Thing, ann)),
    },
  },
  {
    habit: "a look at another object at the first reconcile only",
    setup: (isCorrect) => (context) => {
      const things = context.cluster.watch(Thing);
      const maps = context.cluster.watch(ConfigMap);
      return () => [
        context.controller({
          name: "things",
          sources: [things.source(), ...(isCorrect ? [maps.source()] : [])],
          async reconcile({ key }) {
            const thing = things.get(key);
            const isReady = maps.get(key) !== undefined;
            if (thing === undefined || thing.status?.isReady === isReady) return;
            await report(context, thing, { isReady });
          },
        }),
      ];
    },
    found: [
      /^event-late at step \d+, EVENT ADDED configmaps/,
      "status.isReady: expected true, got false",
    ],
    options: {
      async scenario({ client, clock }) {
        await client.create(ConfigMap, { metadata: ann });
        await clock.sleep(SECOND);
        await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
      },
    },
  },
  {
    habit: "a second part an hour later",
    setup: (isCorrect) => (context) => {
      const things = context.cluster.watch(Thing);
      const waiting = new Set<string>();
      return () => [
        context.controller({
          name: "things",
          sources: [things.source()],
          async reconcile({ key }) {
            const thing = things.get(key);
            if (thing === undefined || thing.status?.isReady === true) return undefined;
            const age = context.clock.now() - Date.parse(thing.metadata.creationTimestamp);
            if (age >= HOUR) {
              await report(context, thing, { isReady: true });
              return undefined;
            }
            if (thing.status === undefined) {
              waiting.add(key);
              await report(context, thing, { size: 1 });
            }
            return isCorrect || waiting.has(key) ? { requeueAfter: HOUR - age } : undefined;
          },
        }),
      ];
    },
    found: [/^(crash|response|hand-over)/, "status.isReady: missing, expected true"],
  },
  {
    habit: "a status whose refusal is dropped",
    setup: (isCorrect) =>
      reconciling(async (thing, context) => {
        await context.client.apply(ConfigMap, { metadata: childOf(thing) });
        await report(context, thing, { child: thing.spec.name }).catch((error) => {
          if (isCorrect) throw error;
        });
      }),
    found: [/PATCH things\/status default\/ann\n/, 'status.child: expected "Anna", got "Ann"'],
    options: {
      scenario: thenUser(({ client }) => client.patch(Thing, ann, { spec: { name: "Anna" } })),
    },
  },
  {
    habit: "a cleanup that forgets a failure",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        await finalize(client, Thing, thing, {
          finalizer,
          apply: async () => void (await client.apply(ConfigMap, { metadata: outside })),
          async cleanup() {
            await client.delete(ConfigMap, outside).catch((error) => {
              if (isCorrect) throw error;
            });
          },
        });
      }),
    found: [/ at step \d+, DELETE configmaps outside\/ann\n/, "configmaps outside/ann: left over"],
    options: { scenario: thenUser(({ client }) => client.delete(Thing, ann)) },
  },
  {
    habit: "a cleanup that ends where the first part is gone",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        const user = { ...outside, name: "user" };
        await finalize(client, Thing, thing, {
          finalizer,
          async apply() {
            for (const metadata of [outside, user]) await client.apply(ConfigMap, { metadata });
          },
          async cleanup() {
            const isGone = (await client.find(ConfigMap, outside)) === undefined;
            if (isGone && !isCorrect) return;
            for (const part of [outside, user]) await client.delete(ConfigMap, part);
          },
        });
      }),
    found: [/ step \d+, DELETE configmaps outside\/user\n/, "configmaps outside/user: left over"],
    options: { scenario: thenUser(({ client }) => client.delete(Thing, ann)) },
  },
  {
    habit: "a lock in an annotation, of a process that is gone",
    setup: (isCorrect) => (context) => {
      const id = isCorrect ? "operator" : (context as ExploredContext<undefined>).uid();
      const lock = (holder: string | null) =>
        context.client.patch(Thing, ann, { metadata: { annotations: { lock: holder } } });
      return reconciling(async (thing, { client }) => {
        const holder = thing.metadata.annotations?.["lock"];
        if (holder !== undefined && holder !== id) return;
        if (thing.status === undefined) {
          await lock(id);
          await client.apply(ConfigMap, { metadata: childOf(thing) });
          await report(context, thing, { isReady: true });
        }
        if (holder !== undefined || thing.status === undefined) await lock(null);
      })(context);
    },
    found: [/^crash/, "annotations: left over"],
  },
  {
    habit: "a marker of an error path",
    setup: (isCorrect) =>
      reconciling(async (thing, { client }) => {
        if (isCorrect) await client.delete(ConfigMap, outside);
        try {
          await client.apply(ConfigMap, { metadata: childOf(thing) });
        } catch (error) {
          await client.apply(ConfigMap, { metadata: outside });
          await client.delete(ConfigMap, outside);
          throw error;
        }
      }),
    found: [/; then [\w -]+ (at|before|after) step \d+/, "configmaps outside/ann: left over"],
    options: { recreates: [ConfigMap] },
  },
];

describe.each(kinds)("$habit", ({ setup, found, options }) => {
  it("is found if it is a bug", async () => {
    const problem = await problemOf({ ...options, setup: setup(false) });
    for (const text of found)
      if (typeof text === "string") expect(problem).toContain(text);
      else expect(problem).toMatch(text);
  });

  it("passes if it is correct", () => expectNoProblem({ ...options, setup: setup(true) }));
});
