import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type Fault } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type Cluster,
  customResource,
  fromCrd,
  type KubeObject,
  type OperatorContext,
  runOperator,
} from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

const names = { apiVersion: "example.org/v1", kind: "Greeting", plural: "greetings" };
const status = z.object({ text: z.string() });
const Old = customResource({ ...names, spec: z.object({ name: z.string() }), status });
const spec = z.object({
  name: z.string().max(100).describe("Of a person"),
  title: z.string().optional(),
});
const New = customResource({ ...names, spec, status });
const Crd = builtIn<KubeObject & { spec: object }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
);
const NAME = "greetings.example.org";

let clock: FakeClock;
let lines: [string, string, unknown][];

beforeEach(() => {
  clock = new FakeClock();
  lines = [];
});

interface Comparison {
  /** The resource of the operator. */
  readonly own?: typeof New;
  readonly rules?: object[];
  /** What happens to the read of the definition. */
  readonly fault?: Fault;
  readonly compareCrds?: undefined;
}

/** What an operator of `New` says about the definition of its server. */
async function compared(
  served: object | undefined,
  { own = New, rules, fault, ...options }: Comparison = {},
) {
  const api = new FakeApi({ clock, resources: [own, Crd], rules: rules as never });
  const stop = new AbortController();
  let cluster: Cluster | undefined;
  const log =
    (level: string) =>
    (details: object, message: string): void => {
      const { crd, differences } = details as { crd?: string; differences?: unknown };
      if (crd !== undefined) lines.push([level, message, differences]);
    };
  await clock.run(async () => {
    if (served !== undefined) await api.client.create(Crd, served as never);
    if (fault !== undefined) api.intercept({ fault, verbs: ["get"], resource: Crd });
    const running = runOperator(
      {
        name: "greeter",
        transport: api.transport,
        setup(context: OperatorContext) {
          cluster = context.cluster;
          context.cluster.watch(own);
          context.cluster.watch(own, { labels: { app: "a" } });
          return () => [];
        },
        leaderElection: false,
        health: false,
        compareCrds: true,
        clock,
        logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
        ...options,
      },
      stop.signal,
    );
    await clock.sleep(1_000);
    stop.abort("stop");
    await running;
  });
  expect(clock.waiters()).toBe(0);
  return cluster?.status().crdDifferences;
}

const WARNING =
  "CustomResourceDefinition of the server differs from that of this operator; apply its manifest";

it("names the definition to apply when the server lacks a field", async () => {
  const api = new FakeApi({ clock, resources: [Old] });
  const metadata = { namespace: "default", name: "ann" };
  const more = { name: "Ann", title: "Dr" };
  const applied = api.client.apply(Old, { metadata, spec: more }).catch((error: Error) => error);
  expect(String(await applied)).toBe(
    "ApiError: PATCH /apis/example.org/v1/namespaces/default/greetings/ann: 500: failed to create typed patch object (default/ann; example.org/v1, Kind=Greeting): .spec.title: field not declared in schema: apply the current CustomResourceDefinition greetings.example.org, the server has another one",
  );
  const Ingress = builtIn<KubeObject>("networking.k8s.io/v1", "Ingress");
  expect(String(await api.client.get(Ingress, metadata).catch((error: Error) => error))).toMatch(
    /404 page not found: FakeApi does not serve ingresses of networking.k8s.io\/v1: [^;]*$/,
  );
});

it("names the definition to mend when the version of another manager lacks a field", async () => {
  const text = { type: "string" };
  const version = (name: string, fields: readonly string[], storage: boolean) => {
    const properties = Object.fromEntries(fields.map((field) => [field, text]));
    const spec = { type: "object", properties };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
    return { name, served: true, storage, schema };
  };
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "hints.example.org" },
    spec: {
      group: "example.org",
      scope: "Cluster",
      names: { kind: "Hint", plural: "hints" },
      versions: [version("v1", ["a"], false), version("v2", ["a", "b"], true)],
    },
  };
  const Hint = fromCrd<KubeObject & { spec: object }>(crd, "v2");
  const OldHint = fromCrd<KubeObject & { spec: object }>(crd, "v1");
  const { client } = new FakeApi({ clock, resources: [Hint] });
  const metadata = { name: "x" };
  await client.apply(OldHint, { metadata, spec: { a: "1" } }, { fieldManager: "old" });
  const applied = client.apply(Hint, { metadata, spec: { b: "2" } }).catch((error: Error) => error);
  expect(String(await applied)).toBe(
    "ApiError: PATCH /apis/example.org/v2/hints/x: 500: failed to convert new object: .spec.b: field not declared in schema: a manager of the object has written by a version of the CustomResourceDefinition hints.example.org that lacks the field; add the field to all versions",
  );
});

describe("compareCrds of an operator", () => {
  it("names what the definition of the server lacks, once, in the log and in the status", async () => {
    const differences = [
      "v1: .schema.properties.spec.properties.name.maxLength is not on the server",
      "v1: .schema.properties.spec.properties.title is not on the server",
    ];
    expect(await compared(Old.crd)).toEqual({ [NAME]: differences });
    expect(lines).toEqual([["warn", WARNING, differences]]);
  });

  it("is silent about the same definition, its texts and columns aside", async () => {
    const { crd } = customResource({
      ...names,
      spec: z.object({ name: z.string().max(100), title: z.string().optional() }),
      status,
      columns: [{ name: "Name", path: ".spec.name" }],
    });
    expect(await compared(crd)).toEqual({ [NAME]: [] });
    expect(lines).toEqual([]);
  });

  it("names a version that is missing, and one that is served no more", async () => {
    const crd = structuredClone(New.crd) as { spec: { versions: { name: string }[] } };
    const [version] = crd.spec.versions as [{ name: string; served: boolean }];
    version.served = false;
    crd.spec.versions.push({ ...version, name: "v2", storage: false } as never);
    expect(await compared(crd)).toEqual({ [NAME]: ["v1: served is false on the server"] });
    version.name = "v0";
    expect(await compared(crd)).toEqual({
      [NAME]: ["v1: the server does not have this version"],
    });
  });

  it("names another scope, and a field that only the server has", async () => {
    const crd = structuredClone(New.crd) as { spec: { scope: string; versions: object[] } };
    crd.spec.scope = "Cluster";
    const [version] = crd.spec.versions as [{ schema: { openAPIV3Schema: object } }];
    Object.assign(version.schema.openAPIV3Schema, { maxProperties: 9, title: "A text" });
    expect(await compared(crd)).toEqual({
      [NAME]: [
        "scope: Namespaced here, Cluster on the server",
        "v1: .schema.maxProperties is only on the server",
      ],
    });
  });

  it("takes a field without a value for none", async () => {
    const crd = structuredClone(New.crd) as { spec: { versions: object[] } };
    const [version] = crd.spec.versions as [{ schema: { openAPIV3Schema: object } }];
    Object.assign(version.schema.openAPIV3Schema, { maxProperties: undefined });
    const own = fromCrd(crd) as typeof New;
    expect(await compared(New.crd, { own })).toEqual({ [NAME]: [] });
  });

  it("names ten differences, and counts the others", async () => {
    const crd = structuredClone(New.crd) as { spec: { versions: object[] } };
    const [version] = crd.spec.versions as [{ schema: { openAPIV3Schema: object } }];
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`x${index}`, 1]));
    Object.assign(version.schema.openAPIV3Schema, fields);
    const { [NAME]: found = [] } = (await compared(crd)) ?? {};
    expect([found.length, found.at(-1)]).toEqual([11, "and 2 more"]);
  });

  it("names a definition that is missing", async () => {
    expect(await compared(undefined)).toEqual({ [NAME]: ["the server does not have it"] });
  });

  it("says nothing but a line for debugging without the right", async () => {
    const rules = [
      { apiGroups: ["example.org"], resources: ["greetings"], verbs: ["list", "watch"] },
    ];
    expect(await compared(Old.crd, { rules })).toBeUndefined();
    expect(lines).toEqual([
      [
        "debug",
        "CustomResourceDefinition not compared: the role lacks get on customresourcedefinitions",
        undefined,
      ],
    ]);
  });

  it("says nothing but a line for debugging if the server does not answer as it should", async () => {
    const fault = { type: "status", status: 500 } as const;
    expect(await compared(Old.crd, { fault })).toBeUndefined();
    expect(lines).toEqual([["debug", "CustomResourceDefinition not compared", undefined]]);
  });

  it("says nothing if the operator stops while it waits for an answer", async () => {
    expect(await compared(Old.crd, { fault: { type: "stall" } })).toBeUndefined();
    expect(lines).toEqual([]);
  });

  it("takes the fields of a rule in any order, and names a rule that differs", async () => {
    const rule = { rule: "self.spec.name != ''", message: "needs a name" };
    const own = customResource({ ...names, spec, status, rules: [rule] });
    const served = (more: object) => {
      const crd = structuredClone(own.crd) as { spec: { versions: { schema: object }[] } };
      const [{ schema }] = crd.spec.versions as [{ schema: object }];
      const rules = [Object.fromEntries(Object.entries({ ...rule, ...more }).reverse())];
      Object.assign((schema as { openAPIV3Schema: object }).openAPIV3Schema, {
        "x-kubernetes-validations": rules,
      });
      return crd;
    };
    expect(await compared(served({}), { own })).toEqual({ [NAME]: [] });
    expect(await compared(served({ message: "needs another name" }), { own })).toEqual({
      [NAME]: ["v1: .schema.x-kubernetes-validations differs"],
    });
  });

  it("is off by default", async () => {
    expect(await compared(Old.crd, { compareCrds: undefined })).toBeUndefined();
    expect(lines).toEqual([]);
  });
});
