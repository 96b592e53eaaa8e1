import { conversionsOf } from "@holdfast/fake-apiserver/fast-check";
import { customResource, keepInAnnotation } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const names = { group: "example.org", kind: "Task", plural: "tasks", storage: "v2" } as const;
const PARTS = ["minute", "hour"] as const;
const one = z.string().regex(/^[0-9]{1,2}$/);
const v1 = z.object({
  schedule: z.string().regex(/^([0-9]{1,2}|[*]) ([0-9]{1,2}|[*])$/),
  suspend: z.boolean().default(false),
  limit: z.int().min(0).optional(),
});
const v2 = z.object({
  ...v1.shape,
  schedule: z.object({ minute: one.optional(), hour: one.optional() }),
});
const anyText = z.object({ ...v1.shape, schedule: z.string() });
const status = z.object({ active: z.array(z.string()) });

const split = (schedule: string | undefined) => {
  if (schedule === undefined) return {};
  const [minute, hour] = schedule.split(" ").map((part) => (part === "*" ? undefined : part));
  return { schedule: { minute, hour } };
};
const join = (schedule: { minute?: string | undefined; hour?: string | undefined } | undefined) =>
  schedule && { schedule: PARTS.map((name) => schedule[name] ?? "*").join(" ") };

interface Part {
  readonly schedule?: never;
  readonly [name: string]: unknown;
}
const right = {
  toHub: ({ spec: { schedule, ...same } }: { spec: Part }) => ({
    spec: { ...same, ...split(schedule) },
  }),
  fromHub: ({ spec: { schedule, ...same } }: { spec: Part }) => ({
    spec: { ...same, ...join(schedule) },
  }),
};

const task = (conversion: object, specs: { v1?: object; v2?: object } = {}) =>
  customResource({
    ...names,
    versions: { v1: { spec: specs.v1 ?? v1, status }, v2: { spec: specs.v2 ?? v2, status } },
    convert: { v1: conversion },
  } as never) as unknown as Parameters<typeof conversionsOf>[0];

const more = z.object({ ...v2.shape, retries: z.int().min(0).max(9).optional() });
const oldLimit = z.object({ ...v1.shape, limit: z.int().min(0).max(5).optional() });

describe("conversionsOf", () => {
  it("holds for a conversion that loses nothing", () => {
    conversionsOf(task(right));
  });

  it("holds for fields that an annotation keeps", () => {
    const keep = keepInAnnotation(".spec.retries");
    conversionsOf(task({ ...right, keep }, { v2: more }));
  });

  it.each<[string, object, { v1?: object; v2?: object }, string]>([
    [
      "a text that its schema allows and the function refuses",
      {
        ...right,
        toHub(part: { spec: Part }) {
          const all = String(part.spec.schedule ?? "* *").split(" ");
          if (all.length !== 2)
            throw new Error(`invalid schedule ${JSON.stringify(part.spec.schedule)}`);
          return right.toHub(part);
        },
      },
      { v1: anyText },
      'Task default/a of v1 cannot be converted to v2: invalid schedule ""',
    ],
    [
      "a field that the other version lacks",
      {
        ...right,
        fromHub: (part: { spec: Part }) => {
          const { retries: _, ...spec } = right.fromHub(part).spec as Part;
          return { spec };
        },
      },
      { v2: more },
      "conversion of Task from v2 to v1 and back changes the object\n  .spec.retries: 0 before, absent after\n  mend the function or the schemas, or name in lossy what may go\n  object: ",
    ],
    [
      "a field of an answer that the other version lacks",
      right,
      { v2: more },
      "conversion of Task from v2 to v1 answers with fields that v1 lacks\n  .spec.retries: removed\n  mend the function or the schemas, or name in lossy what may go\n  object: ",
    ],
    [
      "a function that reads a field of a missing field",
      {
        ...right,
        fromHub: (part: { spec: Part }) => {
          const { minute } = part.spec.schedule as unknown as { minute: string };
          return minute === "-" ? {} : right.fromHub(part);
        },
      },
      {},
      "Task default/a of v2 cannot be converted to v1: Cannot destructure property 'minute'",
    ],
    [
      "a default that a function fills in",
      {
        ...right,
        toHub: ({ spec }: { spec: Part }) => right.toHub({ spec: { suspend: true, ...spec } }),
      },
      {},
      "conversion of Task from v1 to v2 adds a field to a part of an object\n  .spec.suspend: made from an empty spec and status",
    ],
    [
      "a field that a function makes from a missing one",
      {
        ...right,
        toHub: ({ spec }: { spec: Part }) =>
          right.toHub({
            spec: { ...spec, ...(!spec.schedule && "suspend" in spec && { limit: 1 }) },
          }),
      },
      {},
      "conversion of Task from v1 to v2 adds a field to a part of an object\n  .spec.limit: not in the whole object after the conversion",
    ],
    [
      "a value that the other version refuses",
      right,
      { v1: oldLimit },
      'conversion of Task from v2 to v1 makes an invalid object\n  Task.example.org "a" is invalid: spec.limit: Invalid value: 6: spec.limit in body should be less than or equal to 5',
    ],
    [
      "labels and annotations that a function drops",
      { ...right, fromHub: (part: { spec: Part }) => ({ ...right.fromHub(part), metadata: {} }) },
      {},
      'conversion of Task from v2 to v1 and back changes the object\n  .metadata.annotations: {"example.org/own":"1"} before, absent after',
    ],
    [
      "a status that a function changes",
      {
        ...right,
        toHub: (part: { spec: Part }) => ({ ...right.toHub(part), status: { active: [] } }),
      },
      {},
      "and back changes the object\n  .status.active[0]: ",
    ],
  ])("finds %s", (_, conversion, specs, message) => {
    expect(() => conversionsOf(task(conversion, specs))).toThrow(message);
  });

  it("does not mind fields that may be lost", () => {
    const lossy = [".spec.retries"];
    conversionsOf(task(right, { v2: more }), { lossy });
    const list = z.object({
      ...v2.shape,
      ports: z.array(z.object({ port: z.int(), note: z.string().optional() })).optional(),
    });
    const old = z.object({ ...v1.shape, ports: z.array(z.object({ port: z.int() })).optional() });
    const both = task(right, { v1: old, v2: list });
    expect(() => conversionsOf(both)).toThrow(".spec.ports[0].note: removed");
    conversionsOf(both, { lossy: [".spec.ports[].note"] });
  });

  it("draws from the specs that it is given", () => {
    const specs = { v1: fc.constant({ schedule: "1 2" }) };
    const strict = {
      ...right,
      toHub(part: { spec: Part }) {
        if (![undefined, "1 2"].includes(part.spec.schedule)) throw new Error("another schedule");
        return right.toHub(part);
      },
    };
    const v2Specs = fc.constant({ schedule: { minute: "1", hour: "2" } });
    conversionsOf(task(strict), { specs: { ...specs, v2: v2Specs } });
    expect(() => conversionsOf(task(strict), { specs })).toThrow("another schedule");
  });

  it("shows the smallest object, and draws the same objects by the same seed", () => {
    const failure = () => {
      try {
        conversionsOf(task(right, { v2: more }), { seed: 5, runs: 50 });
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(failure()).toMatch(/\n {2}object: \{"apiVersion":"example.org\/v2",.*\n {2}seed: 5$/);
    expect(failure()).toBe(failure());
  });

  it("shows the part alone for which a function throws", () => {
    const fromHub = (part: { spec: Part }) => {
      if (part.spec.schedule === undefined) throw new Error("no schedule");
      return right.fromHub(part);
    };
    expect(() => conversionsOf(task({ ...right, fromHub }))).toThrow(
      /no schedule\n {2}object: \{"apiVersion":"example.org\/v2","kind":"Task",/,
    );
  });

  it.each<[object, string]>([
    [{ lossy: "a" }, "options.lossy must be an array, got a string"],
    [{ lossy: ["spec.a"] }, 'options.lossy[0] must be a path such as ".spec.note", got "spec.a"'],
    [
      { lossy: [".spec.no"] },
      'options.lossy[0] must name a field of one of the versions, got ".spec.no"',
    ],
    [
      { specs: { v9: fc.constant({}) } },
      'options.specs must have names of versions (v1, v2), got "v9"',
    ],
    [{ specs: { v1: {} } }, "options.specs.v1 must have a method generate()"],
    [{ runs: 0 }, "options.runs must be a whole number"],
    [{ run: 1 }, "options.run is not an option of conversionsOf"],
  ])("refuses the options %j", (options, message) => {
    expect(() => conversionsOf(task(right), options)).toThrow(message);
  });

  it("refuses a resource without versions", () => {
    const single = customResource({ apiVersion: "example.org/v1", kind: "Task", plural: "tasks" });
    const message = "resource must be made by customResource with versions, got one without them";
    expect(() => conversionsOf(single as never)).toThrow(message);
    expect(() => conversionsOf(undefined as never)).toThrow("resource must be an object");
  });
});
