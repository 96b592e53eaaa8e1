// Upgrades that break, each with its mended form.
import { fromCrd, type KubeObject, type OperatorSetup, type Resource } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { crdOf } from "../../../../test/crd.ts";
import {
  ann,
  ConfigMap,
  childOf,
  type Exploration,
  expectNoProblem,
  problemOf,
  reconciling,
  report,
  type Scenario,
  Thing,
  type Thing as ThingObject,
} from "./kit.ts";

type Status = ThingObject["status"];

interface Upgrade {
  readonly habit: string;
  readonly from: OperatorSetup;
  readonly broken: OperatorSetup;
  readonly mended: OperatorSetup;
  readonly found: readonly (string | RegExp)[];
  readonly options?: Partial<Exploration>;
}

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann", size: 1 } });
  await clock.sleep(5_000);
};

const thenDeletes: Scenario = async ({ client, clock, ...more }) => {
  await scenario({ client, clock, ...more });
  await client.delete(Thing, ann);
};

const outside = { namespace: "outside", name: "ann" };

/** A child with a name. */
const named = (nameOf: (thing: ThingObject) => string): OperatorSetup =>
  reconciling(async (thing, { client }) => {
    await client.apply(ConfigMap, {
      metadata: childOf(thing, nameOf(thing)),
      data: { of: thing.spec.name },
    });
  });

/** Cleans the outside with one finalizer, and takes others of its own off as well. */
const finalizing = (own: string, others: readonly string[] = []): OperatorSetup =>
  reconciling(async (thing, { client }) => {
    const { finalizers = [], deletionTimestamp } = thing.metadata;
    const set = (names: readonly string[]) =>
      client.patch(Thing, ann, { metadata: { finalizers: [...names] } });
    const ours = [own, ...others];
    if (deletionTimestamp !== undefined) {
      await client.delete(ConfigMap, outside);
      return await set(finalizers.filter((name) => !ours.includes(name)));
    }
    if (!finalizers.includes(own))
      await set([...finalizers.filter((name) => !ours.includes(name)), own]);
    return await client.apply(ConfigMap, { metadata: outside });
  });

/** Fills a ConfigMap once, which is the user's from then on. The status remembers it. */
const filling = (isFilled: (status: Status) => boolean, mark: NonNullable<Status>): OperatorSetup =>
  reconciling(async (thing, context) => {
    if (isFilled(thing.status)) return;
    const metadata = childOf(thing);
    await context.client.apply(ConfigMap, { metadata, data: { by: "default" } }, { force: true });
    await report(context, thing, mark);
  });

/** Finds its child by one of some labels, and makes one with all of them where there is none. */
const labelled = (...labels: readonly string[]): OperatorSetup =>
  reconciling(async (thing, { client }) => {
    for await (const { metadata } of client.list(ConfigMap, { namespace: "default" }))
      if (labels.some((label) => metadata.labels?.[label] === "ann")) return;
    const { name: _, ...metadata } = childOf(thing);
    const own = Object.fromEntries(labels.map((label) => [label, "ann"]));
    await client.create(ConfigMap, {
      metadata: { ...metadata, labels: own, generateName: "ann-" },
    });
  });

/** Makes its child anew when the hash of the spec differs, as a Deployment does with its Pods. */
const rolling = (hashOf: (name: string) => string): OperatorSetup =>
  reconciling(async (thing, { client }) => {
    const hash = hashOf(thing.spec.name);
    const child = await client.find(ConfigMap, ann);
    if (child?.metadata.annotations?.["hash"] === hash) return;
    if (child !== undefined) await client.delete(ConfigMap, ann);
    await client.create(ConfigMap, { metadata: { ...childOf(thing), annotations: { hash } } });
  });

const upgrades: Upgrade[] = [
  {
    habit: "the name of a child changes",
    from: named(({ metadata }) => metadata.name),
    broken: named(({ metadata }) => `${metadata.name}-config`),
    mended: reconciling(async (thing, { client }) => {
      const data = { of: thing.spec.name };
      await client.apply(ConfigMap, { metadata: childOf(thing), data });
    }),
    found: [/^upgrade/, "configmaps default/ann: left over"],
  },
  {
    habit: "the name of a child changes, and the old one is deleted",
    from: named(({ metadata }) => metadata.name),
    broken: reconciling(async (thing, { client }) => {
      await client.delete(ConfigMap, ann);
      const metadata = childOf(thing, "ann-config");
      await client.apply(ConfigMap, { metadata, data: { of: thing.spec.name } });
    }),
    mended: named(({ metadata }) => metadata.name),
    found: [/^upgrade/, "configmaps default/ann was deleted: once, without the fault never"],
  },
  {
    habit: "a finalizer is renamed",
    from: finalizing("example.org/clean"),
    broken: finalizing("example.org/outside"),
    mended: finalizing("example.org/clean", ["example.org/outside"]),
    found: [/^(upgrade|roll-back) after step \d+/, "things.example.org default/ann: left over"],
    options: { scenario: thenDeletes },
  },
  {
    habit: "a field of the status moves",
    from: filling((status) => status?.isReady === true, { isReady: true }),
    broken: filling((status) => status?.child === "filled", { child: "filled" }),
    mended: filling((status) => status?.isReady === true || status?.child === "filled", {
      isReady: true,
      child: "filled",
    }),
    found: [/^upgrade/, 'data.by: expected "user", got "default"'],
    options: {
      // The mark differs between the releases. A crash for a minute would meet the change of the user.
      normalise: (object) => (object.kind === "Thing" ? undefined : object),
      without: ["crash-before-down", "crash-after-down"],
      async scenario(context) {
        await scenario(context);
        await context.client.patch(ConfigMap, ann, { data: { by: "user" } });
        await context.clock.sleep(5_000);
      },
    },
  },
  {
    habit: "a hash is computed in another way",
    from: rolling((name) => `1-${name}`),
    broken: rolling((name) => `2-${name}`),
    mended: rolling((name) => `1-${name}`),
    found: [
      /^upgrade when nothing is left to do\n/,
      "configmaps default/ann was deleted: once, without the fault never",
      // The steps around the change.
      /> +\d+ .*replica 1 .*\n.*replica 1 {2}stopped\n.*replica 2 {2}LIST things/,
    ],
    options: {
      normalise: ({ metadata: { annotations: _, ...metadata }, ...object }) => ({
        ...object,
        metadata,
      }),
    },
  },
  {
    habit: "the label by which a child is found changes",
    from: labelled("part-of"),
    broken: labelled("owned-by"),
    mended: labelled("owned-by", "part-of"),
    found: [/^upgrade/, "configmaps default/ann-* (2): left over"],
    // The labels differ between the releases.
    options: {
      normalise: ({ metadata, ...object }) => ({
        ...object,
        metadata: { ...metadata, labels: {} },
      }),
    },
  },
];

describe.each(upgrades)("$habit", ({ from, broken, mended, found, options }) => {
  it("is found if objects of the last release are forgotten", async () => {
    const problem = await problemOf({ scenario, ...options, setup: broken, upgradeFrom: from });
    for (const text of found)
      if (typeof text === "string") expect(problem).toContain(text);
      else expect(problem).toMatch(text);
  });

  it("passes if they are taken over", () =>
    expectNoProblem({ scenario, ...options, setup: mended, upgradeFrom: from }));
});

describe("a field that comes with the new definition", () => {
  type Sized = KubeObject & { spec: { name: string; size?: number } };

  const defined = (spec: object): Resource<Sized> =>
    fromCrd<Sized>(
      crdOf({
        kind: "Thing",
        names: { singular: "thing", listKind: "ThingList" },
        version: { subresources: { status: {} } },
        properties: {
          spec: { type: "object", ...spec },
          status: { type: "object", properties: { isReady: { type: "boolean" } } },
        },
      }),
    );
  const name = { type: "string" };
  const old = defined({ properties: { name } });

  /** Upgrades to a release that has `size`, and marks every Thing as ready. */
  const upgrading = (size: object) => {
    const current = defined({ properties: { name, size }, required: ["name", "size"] });
    const marking = reconciling(async (thing, context) => {
      await context.client.apply(ConfigMap, { metadata: childOf(thing) });
      if (thing.status?.isReady !== true) await report(context, thing, { isReady: true });
    });
    const sizing = reconciling(async (thing, context) => {
      await context.client.apply(ConfigMap, {
        metadata: childOf(thing),
        data: { size: `${thing.spec.size}` },
      });
      if (thing.status?.isReady !== true) await report(context, thing, { isReady: true });
    });
    return {
      setup: sizing,
      upgradeFrom: marking,
      resources: [current, ConfigMap],
      resourcesFrom: [old, ConfigMap],
      scenario,
      normalise: (object: KubeObject) => (object.kind === "Thing" ? undefined : object),
    };
  };

  it("is found if stored objects lack it", async () => {
    const problem = await problemOf(upgrading({ type: "integer" }));
    expect(problem).toMatch(/^upgrade/);
    expect(problem).toContain("undefined");
  });

  it("passes with a default", () => expectNoProblem(upgrading({ type: "integer", default: 1 })));
});
