import { isDeepStrictEqual } from "node:util";
import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  ApiError,
  customResource,
  ensureCrd,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { samples, strangers } from "../schema/zod-samples.ts";
import { NamedCluster } from "./named-cluster.ts";

interface AnyObject extends KubeObject {
  spec: Record<string, unknown>;
}

const SEED = 20_261_123;

let cluster: NamedCluster;

beforeAll(async () => {
  cluster = await NamedCluster.open();
});

afterAll(() => cluster[Symbol.asyncDispose]());

/** What a server says to a spec: how it stores it, or the causes of its refusal. */
async function answer(client: KubeClient, resource: Resource<AnyObject>, spec: object) {
  const namespace = cluster.namespace;
  try {
    const object = { metadata: { generateName: "a-", namespace }, spec: spec as AnyObject["spec"] };
    const stored = await client.create(resource, object, { dryRun: true });
    return { spec: stored.spec, causes: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A server goes through the fields of an object in an order that changes.
    const causes = error.details["causes"] as object[] | undefined;
    return {
      spec: undefined,
      causes: causes?.map((cause) => JSON.stringify(cause)).toSorted() ?? error.message,
    };
  }
}

function fakeClient(resource: Resource<AnyObject>): KubeClient {
  return new FakeApi({ resources: [resource], clock: new FakeClock() }).client;
}

test("refuses what is against combinations, and names the fields as the fake does", async () => {
  const probe: Resource<AnyObject> = customResource<AnyObject>({
    apiVersion: "schema.example.org/v1",
    kind: "Probe",
    plural: "probes",
    spec: z.object({
      tagged: z
        .discriminatedUnion("t", [
          z.object({ t: z.literal("a"), x: z.int().min(3) }),
          z.object({ t: z.literal("b"), y: z.string() }),
        ])
        .optional(),
      listed: z.enum(["x", "y"]).nullable().optional(),
      both: z.string().regex(/a/).regex(/b/).optional(),
      either: z.union([z.string().min(3), z.string().regex(/^a/)]).optional(),
      port: z.union([z.string().min(2), z.int().min(3)]).optional(),
      given: z.string().nullable().default("x"),
      list: z
        .array(z.union([z.string().min(3), z.string().regex(/^a/)]))
        .max(2)
        .min(1)
        .optional(),
      above: z.number().gt(3).lt(7).optional(),
      step: z.int().multipleOf(3).optional(),
      text: z.string().min(2).max(3).optional(),
      record: z.record(z.string(), z.boolean()).optional(),
      day: z.string().meta({ format: "date" }).optional(),
    }),
  });
  await ensureCrd(cluster.client, probe.crd as object);
  const fake = fakeClient(probe);
  const specs = [
    ...[{ tagged: { t: "a" } }, { tagged: { t: "a", x: 1 } }, { tagged: { t: "b" } }],
    ...[{ tagged: { t: "c" } }, { tagged: { t: "b", x: 5, y: "s" } }, { tagged: null }],
    ...[{ listed: null }, { listed: "z" }, { listed: "x" }],
    ...[{ both: "a" }, { both: "b" }, { both: "c" }, { both: "ab" }, { both: null }],
    ...[{ either: "b" }, { either: "a" }, { list: ["a", "b"] }, { list: [] }],
    ...[{ port: 1 }, { port: "a" }, { port: true }, { port: 2 ** 40 }, { port: 4 }],
    ...[{ given: null }, { above: 3 }, { above: 7 }, { above: 5 }, { above: "5" }, { step: 4 }],
    ...[{ text: "a" }, { text: "abcd" }, { text: 5 }, { record: { a: 1 } }, { record: [] }],
    ...[{ day: "2026-02-30" }, { day: "2026-02-28" }, { day: ["x"] }, { step: [] }, { day: {} }],
    ...[{ record: { a: [] } }, { above: ["a"] }, { port: [] }, { day: 5 }],
  ];
  const differences: unknown[] = [];
  for (const spec of specs) {
    const [real, double] = await Promise.all([
      answer(cluster.client, probe, spec),
      answer(fake, probe, spec),
    ]);
    if (!isDeepStrictEqual(real, double)) differences.push({ spec, real, double });
  }
  expect(differences).toEqual([]);
});

/** Rules by which a server and zod differ, each with a test for a value in question. */
const RULES = {
  "a server removes nulls of fields that do not allow them": (text: string) =>
    text.includes("null"),
};

test("accepts the definition of 200 random schemas, and judges values as zod and the fake do", async () => {
  const chosen = fc.sample(samples, { seed: SEED, numRuns: 200 });
  const shape = chosen.map(({ schema }, index) => [`s${index}`, schema.optional()] as const);
  const resource: Resource<AnyObject> = customResource<AnyObject>({
    apiVersion: "schema.example.org/v1",
    kind: "Sample",
    plural: "samples",
    spec: z.object(Object.fromEntries(shape)),
  });
  await ensureCrd(cluster.client, resource.crd as object);
  const fake = fakeClient(resource);
  const counts = { accepted: 0, refused: 0, byRule: 0 };
  const differences: unknown[] = [];
  for (const [index, { schema, fitting }] of chosen.entries()) {
    const values = fc.sample(fc.oneof({ weight: 3, arbitrary: fitting }, strangers), {
      seed: SEED + index,
      numRuns: 20,
    });
    await Promise.all(
      values.map(async (value) => {
        const spec = { [`s${index}`]: value };
        const [real, double] = await Promise.all([
          answer(cluster.client, resource, spec),
          answer(fake, resource, spec),
        ]);
        const fits = schema.safeParse(value).success;
        counts[real.spec === undefined ? "refused" : "accepted"] += 1;
        if (!isDeepStrictEqual(real.spec, double.spec)) differences.push({ spec, real, double });
        if (fits === (real.spec !== undefined)) return;
        const text = JSON.stringify(value);
        if (Object.values(RULES).some((rule) => rule(text))) counts.byRule += 1;
        else differences.push({ spec, zod: fits, real, schema: z.toJSONSchema(schema) });
      }),
    );
  }
  expect(differences).toEqual([]);
  expect(counts.accepted).toBeGreaterThan(1_000);
  expect(counts.refused).toBeGreaterThan(1_000);
});
