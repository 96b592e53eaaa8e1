import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { conversionsOf, specsOf } from "@holdfast/fake-apiserver/fast-check";
import { customResource } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { CronTasks } from "../../src/cron-task/resources.ts";
import { scheduleFields } from "../../src/cron-task/versions.ts";
import { jobTemplate } from "./cron-world.ts";

const FIELDS = ["minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const;
// The schema of v1 leaves the form of a schedule to a rule.
const texts = fc.array(fc.stringMatching(/^\S{1,5}$/), { minLength: 5, maxLength: 5 });
const schedule = texts.map((parts) => parts.join(" "));

it("loses nothing between the two versions", () => {
  conversionsOf(CronTasks, { specs: { v1: specsOf(CronTasks.v1, { fields: { schedule } }) } });
});

/** The conversion of the tutorial: five fields joined, five fields split, an error otherwise. */
const book = (specs: { v1: z.ZodObject; v2: z.ZodObject }) =>
  customResource({
    ...{ group: "batch.example.org", kind: "CronTask", plural: "crontasks" },
    versions: { v1: { spec: specs.v1 }, v2: { spec: specs.v2 } },
    ...{ storage: "v1", hub: "v2" },
    convert: {
      v1: {
        toHub({ spec }) {
          const { schedule: given } = spec as { schedule?: string };
          if (given === undefined) return { spec };
          const all = given.split(" ");
          if (all.length !== 5) throw new Error(`invalid schedule ${JSON.stringify(given)}`);
          const named = FIELDS.map((name, index) => [name, all[index]]);
          return {
            spec: { ...spec, schedule: Object.fromEntries(named.filter(([, one]) => one !== "*")) },
          };
        },
        fromHub({ spec }) {
          const { schedule: given } = spec as { schedule?: Record<string, string> };
          return {
            spec: {
              ...spec,
              schedule: given && FIELDS.map((name) => given[name] ?? "*").join(" "),
            },
          };
        },
      },
    },
  });
const optional = z.string().optional();
const anyFields = z.object(Object.fromEntries(FIELDS.map((name) => [name, optional])));

it("finds that the conversion of the tutorial refuses schedules that its schema allows", () => {
  const specs = {
    v1: z.object({ schedule: z.string().min(1) }),
    v2: z.object({ schedule: anyFields }),
  };
  expect(() => conversionsOf(book(specs))).toThrow("cannot be converted to v2: invalid schedule");
});

it("finds that the conversion of the tutorial loses a star", () => {
  const specs = {
    v1: z.object({ schedule: z.string().regex(/^([0-9]|[*])( ([0-9]|[*])){4}$/) }),
    v2: z.object({ schedule: scheduleFields }),
  };
  expect(() => conversionsOf(book(specs))).toThrow("back changes the object\n  .spec.schedule.");
});

it("lets two managers apply in two versions, and keeps the fields of both", async () => {
  const { client } = new FakeApi({
    clock: new FakeClock(),
    resources: [CronTasks.v1, CronTasks.v2],
  });
  const metadata = { namespace: "default", name: "nightly" };
  await client.apply(
    CronTasks.v1,
    { metadata, spec: { schedule: "0 3 * * *", jobTemplate } },
    { fieldManager: "one", force: false },
  );
  await client.apply(
    CronTasks.v2,
    { metadata, spec: { suspend: true } },
    { fieldManager: "two", force: false },
  );
  const made = await client.get(CronTasks.v2, metadata);
  expect(made.spec).toMatchObject({
    schedule: { minute: "0", hour: "3", month: "*" },
    suspend: true,
  });
  await client.apply(
    CronTasks.v1,
    { metadata, spec: { schedule: "30 4 * * 1", jobTemplate } },
    { fieldManager: "one", force: false },
  );
  const { spec, metadata: after } = await client.get(CronTasks.v2, metadata);
  expect(spec).toMatchObject({
    schedule: { minute: "30", hour: "4", dayOfWeek: "1" },
    suspend: true,
  });
  expect(
    (after.managedFields as { manager: string }[]).map(({ manager }) => manager).sort(),
  ).toEqual(["one", "two"]);
});
