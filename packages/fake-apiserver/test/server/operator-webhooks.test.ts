import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { customResource, mutating, validating } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { z } from "zod";

/** One word of a schedule for each field of the other version. */
const CronTask = customResource({
  group: "batch.example.org",
  kind: "CronTask",
  plural: "crontasks",
  versions: {
    v1: { spec: z.object({ schedule: z.string(), suspend: z.boolean().optional() }) },
    v2: {
      spec: z.object({
        at: z.object({ minute: z.string(), hour: z.string() }),
        suspend: z.boolean().optional(),
      }),
    },
  },
  storage: "v1",
  hub: "v2",
  convert: {
    v1: {
      toHub({ spec: { schedule, suspend } }) {
        const [minute = "", hour = ""] = schedule?.split(" ") ?? [];
        return { spec: { ...(schedule !== undefined && { at: { minute, hour } }), suspend } };
      },
      fromHub: ({ spec: { at, suspend } }) => ({
        spec: { ...(at !== undefined && { schedule: `${at.minute} ${at.hour}` }), suspend },
      }),
    },
  },
});
const check = validating(CronTask.v2, {
  handle: ({ object }) =>
    /^\d+$/.test(object.spec.at.minute)
      ? []
      : [{ field: "spec.at.minute", message: "must be a number" }],
});
const fill = mutating(CronTask.v2, {
  handle({ object }) {
    object.spec.suspend ??= false;
  },
});

it("asks the hooks of an operator about objects of another version", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [CronTask.v1], webhooks: [check, fill] });
  const { client } = api;
  const ref = { namespace: "default", name: "a" };
  const patch = (spec: object) => client.patch(CronTask.v1, ref, { spec }, { retries: 0 });
  const label = (a: string) => client.patch(CronTask.v1, ref, { metadata: { labels: { a } } });
  await clock.run(async () => {
    const made = await client.create(CronTask.v1, { metadata: ref, spec: { schedule: "5 4" } });
    expect(made.spec).toEqual({ schedule: "5 4", suspend: false });
    const seen = await client.get(CronTask.v2, ref);
    expect(seen.spec).toEqual({ at: { minute: "5", hour: "4" }, suspend: false });
    await expect(patch({ schedule: "x 4" })).rejects.toThrow(
      'admission webhook "validate.crontasks.batch.example.org" denied the request',
    );
    api.intercept({ hook: check, fault: { type: "down" } });
    await expect(patch({ schedule: "6 4" })).rejects.toThrow("failed calling webhook");
    await label("unasked"); // `when: "spec"` lets labels go.
    api.intercept({ hook: CronTask, fault: { type: "down" } });
    await expect(client.get(CronTask.v2, ref, { retries: 0 })).rejects.toThrow("500");
  });
  expect(clock.waiters()).toBe(0);
});
