import { explorePaths, PathError, type PathOptions } from "@holdfast/fake-apiserver/fast-check";
import {
  builtIn,
  type CachedObject,
  fromCrd,
  generationChanged,
  type KubeObject,
  type OperatorContext,
  type OperatorSetup,
  ownerOf,
  ownerReference,
  type Resource,
  validating,
} from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resourceWith } from "./schemas.ts";

interface ThingObject extends KubeObject {
  spec: { name: string; note?: string };
  status?: { state?: string; observedGeneration?: number };
}
type Thing = CachedObject<ThingObject>;
type Map = KubeObject & { data?: { [key: string]: string } };

const Thing = resourceWith<ThingObject>({
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", enum: ["ann", "bob", "Not a name"] },
    note: { type: "string", maxLength: 3 },
  },
});
const ConfigMap = builtIn<Map>("v1", "ConfigMap");

const specs = fc.record(
  { name: fc.constantFrom("ann", "bob"), note: fc.constantFrom("x", "y") },
  { requiredKeys: ["name"] },
);

/** An operator that reconciles Things, and looks at its ConfigMaps too. */
function operator(
  reconcile: (
    thing: Thing,
    context: OperatorContext & { children: readonly CachedObject<Map>[] },
  ) => Promise<unknown>,
): OperatorSetup {
  return (context) => {
    const things = context.cluster.watch(Thing);
    const maps = context.cluster.watch(ConfigMap);
    return () => [
      context.controller({
        name: "things",
        sources: [things.source(), maps.source({ to: ownerOf(Thing) })],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing !== undefined) await reconcile(thing, { ...context, children: maps.list() });
        },
      }),
    ];
  };
}

const child = (thing: Thing, name: string, data: { [key: string]: string }) => ({
  metadata: { name, namespace: "default", ownerReferences: [ownerReference(Thing, thing)] },
  data,
});

const explore = (setup: OperatorSetup, more: Partial<PathOptions<ThingObject>> = {}) =>
  explorePaths({ setup, resource: Thing, resources: [ConfigMap], specs, runs: 20, ...more });

/** The message of the error with which a call rejects. */
async function problemOf(exploring: Promise<unknown>): Promise<string> {
  const error = await exploring.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PathError);
  return (error as Error).message;
}

const correct = operator(async (thing, { client }) => {
  const { name, note } = thing.spec;
  await client.apply(
    ConfigMap,
    child(thing, "child", { name, ...(note !== undefined && { note }) }),
  );
});

test("an operator that keeps every promise passes, the same way each time", async () => {
  const report = await explore(correct);
  expect(report.paths).toBe(20);
  expect(report.steps).toBeGreaterThan(30);
  expect(await explore(correct)).toEqual(report);
  expect(await explore(correct, { seed: 2 })).not.toEqual(report);
});

test("reports a field that is removed from the spec and stays in the child", async () => {
  const setup = operator(async (thing, { client }) => {
    const { name, note } = thing.spec;
    const data = { name, ...(note !== undefined && { note }) };
    const found = await client.find(ConfigMap, "default/child");
    if (found === undefined) await client.create(ConfigMap, child(thing, "child", data));
    else await client.patch(ConfigMap, "default/child", { data });
  });
  expect(await problemOf(explore(setup))).toMatch(
    /^the state depends on the path; the shortest path of \d+ steps tried:\n {2}1\. create with \{"name":"ann","note":"x"\}\n {2}2\. replace with \{"name":"ann"\}\n\nconfigmaps default\/child\n {2}data\.note: "x" after the path, absent if created with the last spec\n\nagain: explorePaths\(\{ …, seed: 1, path: "[\d:]+" \}\)$/,
  );
});

test("runs the one path that a report names", async () => {
  const setup = operator(async (thing, { client }) => {
    await client.apply(ConfigMap, child(thing, thing.spec.name, {}));
  });
  const problem = await problemOf(explore(setup));
  expect(problem).toContain("configmaps default/bob: only after the path");
  const [, path] = /path: "([\d:]+)"/.exec(problem) ?? [];
  const again = await problemOf(explore(setup, { path }));
  const count = /the shortest path of \d+ steps tried/;
  expect(again.replace(count, "")).toBe(problem.replace(count, ""));
  expect(again).toContain("the shortest path of 2 steps tried");
});

test("reports a state that going back does not restore", async () => {
  const setup = operator(async (thing, { client, children: [found] }) => {
    const { name } = thing.spec;
    if (found === undefined) await client.create(ConfigMap, child(thing, "child", { name }));
    else if (found.data?.["name"] !== name)
      await client.update(ConfigMap, {
        ...structuredClone(found),
        data: { name, ...(name === "ann" && { again: "yes" }) },
      });
  });
  const from = (name: string) => fc.constantFrom({ name }, { name: "bob" });
  expect(await problemOf(explore(setup, { specs: from("ann"), seed: 3 }))).toContain("again");
  const problem = /going back to the first spec leads elsewhere|the state depends on the path/;
  expect(await problemOf(explore(setup, { specs: from("ann") }))).toMatch(problem);
});

test("reports a child that the deletion leaves", async () => {
  const setup = operator(async (thing, { client }) => {
    const { ownerReferences, ...metadata } = child(thing, "child", {}).metadata;
    await client.apply(ConfigMap, { metadata, data: { owners: `${ownerReferences.length}` } });
  });
  const problem = await problemOf(explore(setup));
  expect(problem).toContain("the deletion leaves something");
  expect(problem).toContain('1. create with {"name":"ann"}\n\n');
  expect(problem).toContain("configmaps default/child: only after the deletion\n  {");
});

describe("an operator that writes forever", () => {
  test("is reported if no time passes", async () => {
    let turn = 0;
    const setup = operator(async (thing, { client }) => {
      turn += 1;
      await client.apply(ConfigMap, child(thing, "child", { turn: `${turn}` }));
    });
    const problem = await problemOf(explore(setup, { runs: 1 }));
    expect(problem).toContain("the operator writes forever");
    expect(problem).toContain("its last writes:\n  patch configmaps default/child: 200");
  });

  test("is reported if minutes pass between two writes", async () => {
    const setup: OperatorSetup = ({ cluster, client, controller, clock }) => {
      const things = cluster.watch(Thing);
      return () => [
        controller({
          name: "things",
          sources: [things.source({ when: generationChanged })],
          async reconcile({ key }) {
            await client.patch(
              Thing,
              key,
              { status: { state: `${clock.now()}` } },
              { subresource: "status" },
            );
            return { requeueAfter: 60_000 };
          },
        }),
      ];
    };
    const problem = await problemOf(
      explore(setup, {
        runs: 1,
        prepare: ({ client }) =>
          client.create(Thing, {
            metadata: { namespace: "default", name: "b" },
            spec: { name: "ann" },
          }),
      }),
    );
    expect(problem).toContain("patch things.example.org/status default/b: 200");
  });
});

describe("a write that the server refuses", () => {
  const named = (tells: boolean) =>
    operator(async (thing, { client }) => {
      const { name, namespace, generation } = thing.metadata;
      const status = (state: string) =>
        client.apply(
          Thing,
          { metadata: { name, namespace }, status: { state, observedGeneration: generation } },
          { subresource: "status" },
        );
      try {
        await client.apply(ConfigMap, child(thing, thing.spec.name, {}));
      } catch (error) {
        if (tells) await status("refused");
        throw error;
      }
      if (tells) await status("ready");
    });
  const specs = fc.constantFrom({ name: "Not a name" }, { name: "Not a name", note: "x" });

  test("is reported unless the status tells", async () => {
    expect(await problemOf(explore(named(false), { specs }))).toMatch(
      /^a spec fails, and the status does not tell; .*\n.*\n\n {2}patch configmaps default\/Not a name: 422\n {2}reconcile of things default\/a: .*422 Invalid.*\n\nagain/,
    );
    expect(await explore(named(true), { specs })).toMatchObject({ paths: 20 });
  });

  test("is reported if the operator drops the error", async () => {
    const setup = operator(async (thing, { client }) => {
      await client.apply(ConfigMap, child(thing, thing.spec.name, {})).catch(() => undefined);
    });
    expect(await problemOf(explore(setup, { specs }))).toContain(
      "\n\n  patch configmaps default/Not a name: 422\n\n",
    );
  });
});

describe("invalid specs", () => {
  const refusing = (tells: boolean, acts: boolean) =>
    operator(async (thing, { client }) => {
      const { name, namespace } = thing.metadata;
      const isValid = thing.spec.note !== "bad";
      if (isValid || acts)
        await client.apply(ConfigMap, child(thing, "child", { name: thing.spec.name }));
      const state = isValid ? "ready" : "refused";
      if (isValid || tells)
        await client.apply(
          Thing,
          { metadata: { name, namespace }, status: { state } },
          { subresource: "status" },
        );
    });
  const invalid = fc.constantFrom({ name: "bob", note: "bad" }, { name: "ann", note: "bad" });

  test("may only change the status", async () => {
    expect(await explore(refusing(true, false), { invalid })).toMatchObject({ paths: 20 });
    const specs = fc.constant({ name: "ann" });
    expect(await problemOf(explore(refusing(true, true), { specs, invalid }))).toMatch(
      /an invalid spec is carried out.*\n {2}1\. create with \{"name":"ann"\}\n {2}2\. replace with the invalid \{"name":"bob","note":"bad"\}\n\nconfigmaps default\/child\n {2}data\.name: "bob" after it, "ann" before it\n/,
    );
  });

  test("must show in the status", async () => {
    expect(await problemOf(explore(refusing(false, false), { invalid }))).toContain(
      "the status does not report an invalid spec",
    );
  });

  test("may be refused by the server", async () => {
    expect(await explore(correct, { invalid: fc.constant({ name: 5 }) })).toMatchObject({
      paths: 20,
    });
  });

  test("may be refused by a webhook", async () => {
    let asked = 0;
    const check = validating(Thing, {
      handle({ object }) {
        asked += 1;
        return object.spec.note === "bad" ? [{ field: "spec.note", message: "is bad" }] : [];
      },
    });
    const options = { invalid: fc.constant({ name: "ann", note: "bad" }), webhooks: [check] };
    expect(await explore(correct, options)).toMatchObject({ paths: 20 });
    expect(asked).toBeGreaterThan(20);
  });

  test("fail with the server's error if it refuses them for another reason", async () => {
    const huge = fc.constant({ name: "ann", note: "long" });
    await expect(explore(correct, { specs: huge as never })).rejects.toThrow("Too long");
  });
});

test("compares objects of cluster scope, with generated names, without those that normalise leaves out", async () => {
  const crd = structuredClone(Thing.crd) as { spec: { scope: string } };
  crd.spec.scope = "Cluster";
  const Global = fromCrd<ThingObject>(crd);
  const setup: OperatorSetup = ({ cluster, client, controller }) => {
    const things = cluster.watch(Global);
    const maps = cluster.watch(ConfigMap);
    return () => [
      controller({
        name: "things",
        sources: [things.source(), maps.source({ to: () => ["a"] })],
        async reconcile({ key }) {
          const thing = things.get(key);
          const count = maps.list().length;
          if (thing === undefined || count === 2) return;
          const metadata = {
            namespace: "default",
            generateName: "child-",
            ownerReferences: [ownerReference(Global, thing)],
          };
          await client.create(ConfigMap, { metadata, data: { count: `${count}` } });
        },
      }),
    ];
  };
  const options = {
    setup,
    resource: Global as Resource<ThingObject>,
    resources: [ConfigMap],
    specs,
    runs: 5,
  };
  expect(await explorePaths(options)).toMatchObject({ paths: 5 });
  const normalise = (object: KubeObject) => (object.kind === "ConfigMap" ? undefined : object);
  expect(await explorePaths({ ...options, normalise })).toMatchObject({ paths: 5 });
});

test("rejects with the error of a setup that throws", async () => {
  const error = new Error("no setup");
  const setup = () => {
    throw error;
  };
  await expect(explore(setup)).rejects.toBe(error);
});

test("rejects if the operator stops by itself", async () => {
  const setup: OperatorSetup = () => () => [{ name: "short", run: async () => undefined }] as never;
  await expect(explore(setup)).rejects.toMatchObject({
    errors: [expect.objectContaining({ message: expect.stringContaining("work") })],
  });
});
