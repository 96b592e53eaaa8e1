import { isApiError } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { CronTask } from "../../src/cron-task/resources.ts";
import { endJobs, inWorld, jobTemplate, MINUTE, nightly } from "./cron-world.ts";

describe("a CronTask", () => {
  it("creates a Job at each time, and says so", () =>
    inWorld(async (world) => {
      await world.create();
      await world.clock.sleep(4 * MINUTE);
      expect(await world.jobs()).toEqual([]);
      await world.clock.sleep(7 * MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:05", "01-01 00:10"]);
      expect(await world.status()).toEqual({
        active: ["nightly-29453765", "nightly-29453770"],
        lastScheduleTime: "2026-01-01T00:10:00.000Z",
      });
      // The second one counts in the series of the first.
      expect(await world.events()).toEqual(["SuccessfulCreate: created job nightly-29453765"]);
    }));

  it("keeps the last Jobs of each end", () =>
    inWorld(async (world) => {
      await world.create({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
      for (const end of ["Complete", "Failed", "Complete"] as const) {
        await world.clock.sleep(5 * MINUTE);
        await endJobs(world.api.client, world.clock, end);
      }
      await world.clock.sleep(MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:15 Complete"]);
    }));

  it("starts the next Job when the last one has ended, with Forbid", () =>
    inWorld(async (world) => {
      await world.create({ concurrencyPolicy: "Forbid" });
      await world.clock.sleep(12 * MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:05"]);
      await endJobs(world.api.client, world.clock);
      await world.clock.sleep(1_000);
      expect(await world.jobs()).toEqual(["01-01 00:05 Complete", "01-01 00:10"]);
    }));

  it("deletes the Job that runs, with Replace", () =>
    inWorld(async (world) => {
      await world.create({ concurrencyPolicy: "Replace" });
      await world.clock.sleep(12 * MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:10"]);
    }));

  it("starts nothing while it is suspended, and the last time that was missed after it", () =>
    inWorld(async (world) => {
      await world.create({ suspend: true });
      await world.clock.sleep(12 * MINUTE);
      expect(await world.jobs()).toEqual([]);
      await world.patch({ suspend: false });
      await world.clock.sleep(1_000);
      expect(await world.jobs()).toEqual(["01-01 00:10"]);
    }));

  it("does not start a Job after its deadline", () =>
    inWorld(async (world) => {
      await world.create({ suspend: true, startingDeadlineSeconds: 60 });
      await world.clock.sleep(12 * MINUTE); // 2 min 30 s after 00:10
      await world.patch({ suspend: false });
      await world.clock.sleep(1_000);
      expect(await world.jobs()).toEqual([]);
      await world.clock.sleep(3 * MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:15"]);
    }));

  it("counts hours of its time zone", () =>
    inWorld(async (world) => {
      await world.create({ schedule: "30 1 * * *", timeZone: "Europe/Paris" });
      await world.clock.sleep(60 * MINUTE);
      expect(await world.jobs()).toEqual(["01-01 00:30"]);
    }));

  it.each([{ schedule: "61 * * * *" }, { timeZone: "Mars/Olympus" }])(
    "reports %j once, and starts when it is mended",
    (spec) =>
      inWorld(async (world) => {
        await world.create(spec);
        await world.clock.sleep(30 * MINUTE);
        expect(await world.jobs()).toEqual([]);
        expect(await world.events()).toEqual([
          expect.stringMatching(/^UnparseableSchedule: schedule "/),
        ]);
        await world.patch({ schedule: "*/5 * * * *", timeZone: "Etc/UTC" });
        await world.clock.sleep(1_000);
        expect(await world.jobs()).toEqual(["01-01 00:30"]);
      }),
  );

  it.each([
    [{ schedule: "* * * *" }, "schedule must have five fields"],
    [{ successfulJobsHistoryLimit: -1 }, "should be greater than or equal to 0"],
  ])("is refused by the server with %j", (spec, message) =>
    inWorld(async (world) => {
      const error = await world.create(spec).catch((reason: unknown) => reason);
      expect(isApiError(error, "Invalid")).toBe(true);
      expect((error as Error).message).toContain(message);
    }),
  );

  it("is refused with a name that leaves no room for the time", () =>
    inWorld(async ({ api }) => {
      const metadata = { namespace: "default", name: "a".repeat(53) };
      const spec = { schedule: "* * * * *", jobTemplate };
      await expect(api.client.create(CronTask, { metadata, spec })).rejects.toThrow("at most 52");
    }));

  it("is left alone while it is being deleted", () =>
    inWorld(async (world) => {
      await world.create();
      await world.api.client.patch(CronTask, nightly, {
        metadata: { finalizers: ["example.org/a"] },
      });
      await world.api.client.delete(CronTask, nightly);
      await world.clock.sleep(12 * MINUTE);
      expect(await world.jobs()).toEqual([]);
    }));
});
