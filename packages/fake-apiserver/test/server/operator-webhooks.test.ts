import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  type KubeObject,
  mutating,
  validating,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
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

describe("a webhook whose setup declares informers", () => {
  type Quota = KubeObject & { data?: { [name: string]: string } };
  const ConfigMap = builtIn<Quota>("v1", "ConfigMap");
  const ref = (name: string) => ({ namespace: "default", name });
  let setups = 0;
  /** At most so many tasks as the ConfigMap says. */
  const limit = validating(CronTask.v1, {
    operations: ["CREATE"],
    setup({ cluster }) {
      setups += 1;
      const tasks = cluster.watch(CronTask.v1);
      const quotas = cluster.watch(ConfigMap, {
        indexes: { name: ({ metadata }) => [metadata.name] },
      });
      return async ({ signal }) => {
        await cluster.ready(signal);
        const most = Number(quotas.by("name", "quota")[0]?.data?.["most"] ?? 0);
        return tasks.size < most ? [] : [{ message: `at most ${most}, got ${tasks.size}` }];
      };
    },
  });
  const task = (name: string) => ({ metadata: ref(name), spec: { schedule: "5 4" } });

  it("sees the objects of the server as they are at each review", async () => {
    const clock = new FakeClock();
    setups = 0;
    const api = new FakeApi({ clock, resources: [CronTask.v1, ConfigMap], webhooks: [limit] });
    const { client } = api;
    const refused = (most: number, size: number) =>
      expect(client.create(CronTask.v1, task("c"), { retries: 0 })).rejects.toThrow(
        `at most ${most}, got ${size}`,
      );
    await clock.run(async () => {
      await refused(0, 0);
      await client.create(ConfigMap, { metadata: ref("quota"), data: { most: "2" } });
      await client.create(CronTask.v1, task("a"));
      await client.create(CronTask.v1, task("b"));
      await refused(2, 2);
      await client.patch(ConfigMap, ref("quota"), { data: { most: "3" } });
      // Reviews at the same time share the informers.
      const both = ["c", "d"].map((name) => client.create(CronTask.v1, task(name)));
      expect((await Promise.allSettled(both)).map(({ status }) => status)).toContain("fulfilled");
      await client.delete(CronTask.v1, ref("a"));
      await client.delete(CronTask.v1, ref("b"));
      await client.create(CronTask.v1, task("e"));
    });
    expect([setups, clock.waiters()]).toEqual([1, 0]);
  });

  it("names a resource that the server does not have, and a mistake of its setup", () => {
    const clock = new FakeClock();
    expect(() => new FakeApi({ clock, resources: [CronTask.v1], webhooks: [limit] })).toThrow(
      "options.resources must have configmaps: a webhook declares an informer of it",
    );
    const wrong = validating(CronTask.v1, { setup: () => undefined as never });
    expect(() => new FakeApi({ clock, resources: [CronTask.v1], webhooks: [wrong] })).toThrow(
      "the result of options.setup must be a function",
    );
  });

  it("fails as a server says while its informers cannot list", async () => {
    const clock = new FakeClock();
    const api = new FakeApi({ clock, resources: [CronTask.v1, ConfigMap], webhooks: [limit] });
    api.intercept({ resource: ConfigMap, fault: { type: "status", status: 500 } });
    await clock.run(() =>
      expect(api.client.create(CronTask.v1, task("a"), { retries: 0 })).rejects.toThrow(
        "context deadline exceeded",
      ),
    );
    expect(clock.waiters()).toBe(0);
  });
});
