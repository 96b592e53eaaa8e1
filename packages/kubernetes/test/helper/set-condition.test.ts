import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  type ConditionUpdate,
  customResource,
  type ObjectOf,
  ownConditions,
  type StatusCondition,
  setCondition,
} from "@holdfast/kubernetes";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";

const ready: ConditionUpdate = { type: "Ready", status: "True", reason: "Synced" };
const synced: StatusCondition = {
  type: "Ready",
  status: "True",
  reason: "Synced",
  message: "",
  lastTransitionTime: "1999-12-31T23:00:00Z",
};
const other: StatusCondition = { ...synced, type: "Healthy" };
const NOW = "2000-01-01T00:00:00Z";

describe("setCondition", () => {
  const clock = new FakeClock();

  it.each<[string, readonly StatusCondition[] | undefined, ConditionUpdate, StatusCondition[]]>([
    ["begins a list", undefined, ready, [{ ...synced, lastTransitionTime: NOW }]],
    ["adds a type", [other], ready, [other, { ...synced, lastTransitionTime: NOW }]],
    [
      "changes the status, and the time with it",
      [other, synced],
      { ...ready, status: "False" },
      [other, { ...synced, status: "False", lastTransitionTime: NOW }],
    ],
    [
      "changes the rest without the time",
      [synced, other],
      { ...ready, reason: "Checked", message: "all well", observedGeneration: 2 },
      [{ ...synced, reason: "Checked", message: "all well", observedGeneration: 2 }, other],
    ],
  ])("%s", (_name, conditions, update, expected) => {
    const before = JSON.stringify(conditions);
    expect(setCondition(conditions, update, clock)).toEqual(expected);
    expect(JSON.stringify(conditions)).toBe(before);
  });

  it("returns the same array if nothing has changed", () => {
    const conditions = Object.freeze([other, { ...synced, observedGeneration: 3 }]);
    const update = { ...ready, message: "", observedGeneration: 3 };
    expect(setCondition(conditions, update, clock)).toBe(conditions);
  });

  it("writes whole seconds", async () => {
    const late = new FakeClock({ now: 1_999 });
    expect(setCondition([], ready, late)[0]?.lastTransitionTime).toBe("1970-01-01T00:00:01Z");
  });

  it.each<[unknown, object, string]>([
    [5, ready, "conditions must be an array, got 5"],
    [[], { ...ready, type: "" }, "condition.type must be a non-empty string"],
    [[], { ...ready, status: true }, 'condition.status must be "True", "False" or "Unknown"'],
    [[], { ...ready, reason: "not ready" }, 'condition.reason must be one word such as "Synced"'],
    [[], { ...ready, reason: 5 }, "condition.reason must be a string"],
  ])("refuses %j with %j", (conditions, update, message) =>
    expect(() => setCondition(conditions as never, update as never, clock)).toThrow(message),
  );
});

describe("ownConditions", () => {
  const clock = new FakeClock();
  const published: StatusCondition = { ...synced, type: "Published" };

  it.each<
    [string, readonly StatusCondition[] | undefined, Parameters<typeof ownConditions>[1], object[]]
  >([
    [
      "has one condition of a new object",
      undefined,
      [ready],
      [{ ...synced, lastTransitionTime: NOW }],
    ],
    ["leaves out those of others, and keeps the time", [other, synced], [ready], [synced]],
    [
      "has the time of the transition",
      [other, synced],
      [{ ...ready, status: "False" }],
      [{ ...synced, status: "False", lastTransitionTime: NOW }],
    ],
    [
      "keeps the time when the reason alone changes",
      [synced],
      [{ ...ready, reason: "Checked" }],
      [{ ...synced, reason: "Checked" }],
    ],
    [
      "keeps those that are named by type",
      [other, published],
      ["Published", ready, "Gone"],
      [published, { ...synced, lastTransitionTime: NOW }],
    ],
    ["is empty for none", [other], [], []],
  ])("%s", (_name, conditions, own, expected) => {
    const before = JSON.stringify(conditions);
    expect(ownConditions(conditions, own, clock)).toEqual(expected);
    expect(JSON.stringify(conditions)).toBe(before);
  });

  it("returns the same object for a condition that has not changed", () => {
    const conditions = Object.freeze([other, synced, published]);
    const [first, second] = ownConditions(conditions, [ready, "Published"], clock);
    expect([first === synced, second === published]).toEqual([true, true]);
  });

  it.each<[object, string]>([
    [[ready, "Ready"], "own must name each type once, got Ready twice"],
    [[""], "own[0] must be a non-empty string"],
    [["Ready", { ...ready, type: "x", status: true }], 'own[1].status must be "True"'],
    [[5], "own[0] must be an object"],
    [ready, "own must be an array"],
  ])("refuses %j", (own, message) =>
    expect(() => ownConditions([], own as never, clock)).toThrow(message),
  );

  it("leaves a newer condition of another controller as it is, and that controller's alone", async () => {
    const names = { apiVersion: "example.org/v1", kind: "Site", plural: "sites" };
    const Site = customResource({ ...names, spec: z.object({}), conditions: true });
    const api = new FakeApi({ clock: new FakeClock(), resources: [Site] });
    const metadata = { name: "home", namespace: "default" };
    await api.client.create(Site, { metadata, spec: {} });
    const applyBy = async (
      fieldManager: string,
      seen: readonly StatusCondition[] | undefined,
      own: Parameters<typeof ownConditions>[1],
    ) => {
      const status = { conditions: ownConditions(seen, own, clock) };
      const options = { subresource: "status", fieldManager };
      return (await api.client.apply(Site, { metadata, status }, options)).status?.conditions;
    };
    const billed = { type: "Billed", status: "True", reason: "Paid" } as const;
    const stale = await applyBy("billing", [], [billed]);
    await applyBy("billing", stale, [{ ...billed, status: "False", reason: "Overdue" }]);
    const both = await applyBy("sites", stale, [ready]);
    expect(both?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      "Billed Overdue",
      "Ready Synced",
    ]);
    expect((await applyBy("billing", both, []))?.map(({ type }) => type)).toEqual(["Ready"]);
  });
});

it("keeps the type of conditions whose status is an enum", () => {
  const status = z.enum(["True", "False", "Unknown"]);
  const fields = { type: z.string(), reason: z.string(), message: z.string() };
  const condition = z.object({ ...fields, status, lastTransitionTime: z.string() });
  const Site = customResource({
    apiVersion: "example.org/v1",
    kind: "Site",
    plural: "sites",
    spec: z.object({}),
    status: z.object({ conditions: z.array(condition).optional() }),
  });
  type SiteStatus = NonNullable<ObjectOf<typeof Site>["status"]>;
  const before: SiteStatus = {};
  const conditions = setCondition(before.conditions, ready, new FakeClock());
  const after: SiteStatus = { conditions: [...conditions] };
  expect(after.conditions?.[0]?.status).toBe("True");
});

describe("a resource with conditions", () => {
  const clock = new FakeClock();
  const names = { apiVersion: "example.org/v1", kind: "Site", plural: "sites" };
  const spec = z.object({ page: z.string() });
  const metadata = { name: "home", namespace: "default" };
  const condition = { ...ready, message: "" };

  it.each([
    ["beside a status", z.object({ url: z.string().optional() })],
    ["alone", undefined],
  ])("keeps those of setCondition, %s, and refuses others", async (_name, status) => {
    const Site = customResource({ ...names, spec, status, conditions: true });
    const { client } = new FakeApi({ clock, resources: [Site] });
    const { metadata: made } = await client.create(Site, { metadata, spec: { page: "" } });
    const write = async (conditions: readonly StatusCondition[]) =>
      await client.apply(Site, { metadata, status: { conditions } }, { subresource: "status" });
    const observedGeneration = made.generation;
    const conditions = setCondition([], { ...condition, observedGeneration }, clock);
    expect((await write(conditions)).status?.conditions).toEqual(conditions);
    const [first] = conditions as [StatusCondition];
    for (const [wrong, field] of [
      [{ ...first, status: "Perhaps" }, "conditions[0].status"],
      [{ ...first, reason: "not one word" }, "conditions[0].reason"],
      [{ ...first, lastTransitionTime: "today" }, "conditions[0].lastTransitionTime"],
    ] as const)
      await expect(write([wrong])).rejects.toThrow(field);
    await expect(write([first, first])).rejects.toThrow(/conditions/);
  });

  it("has a type with them", () => {
    const Site = customResource({
      ...names,
      spec,
      status: z.object({ url: z.string() }),
      conditions: true,
    });
    const Bare = customResource({ ...names, spec, conditions: true });
    const Empty = customResource({ ...names, spec, status: z.object({}), conditions: true });
    const Version = customResource({
      group: "example.org",
      kind: "Site",
      plural: "sites",
      versions: { v1: { spec, status: z.object({}), conditions: true } },
      storage: "v1",
    }).v1;
    type Status = NonNullable<ObjectOf<typeof Site>["status"]>;
    expectTypeOf<Status["url"]>().toEqualTypeOf<string>();
    expectTypeOf<Status["conditions"]>().toEqualTypeOf<readonly StatusCondition[] | undefined>();
    type BareStatus = NonNullable<ObjectOf<typeof Bare>["status"]>;
    expectTypeOf<BareStatus["conditions"]>().toEqualTypeOf<Status["conditions"]>();
    // An empty schema, stored and written, in both doors.
    expectTypeOf(Empty).toEqualTypeOf(Bare);
    type VersionStatus = NonNullable<ObjectOf<typeof Version>["status"]>;
    expectTypeOf<VersionStatus>().toEqualTypeOf<BareStatus>();
    const conditions = [synced];
    expectTypeOf({ conditions }).toExtend<VersionStatus>();
  });

  it("says a time in a format and not in a long pattern", () => {
    const { crd } = customResource({ ...names, spec, conditions: true });
    expect(JSON.stringify(crd)).toContain(
      '"lastTransitionTime":{"type":"string","format":"date-time"}',
    );
  });

  it.each<[object, string]>([
    [{ conditions: "yes" }, 'conditions must be true or false, got "yes"'],
    [
      { conditions: true, status: z.object({ conditions: z.array(z.string()) }) },
      "conditions: true adds the field to the status, which has it already",
    ],
  ])("refuses %j", (options, message) => {
    expect(() => customResource({ ...names, spec, ...options })).toThrow(message);
  });

  it("needs a spec", () => {
    expect(() => customResource({ ...names, conditions: true })).toThrow("conditions needs a spec");
  });
});
