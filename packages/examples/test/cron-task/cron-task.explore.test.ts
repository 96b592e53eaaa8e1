import { explore } from "@holdfast/fake-apiserver";
import { expect, inject, test } from "vitest";
import { cronTasks } from "../../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../../src/cron-task/resources.ts";
import { expectExactly, rolesIn } from "../rights.ts";
import { endJobs, jobTemplate, MINUTE, nightly } from "./cron-world.ts";

const roles = rolesIn(new URL("../../src/cron-task/deploy/cron-task.yaml", import.meta.url));
const isThorough: boolean = inject("isThorough");

test.each([inject("simSeed")])(
  "the same Jobs are there after every fault, and pairs of them, seed %i",
  async (seed) => {
    const [worlds, pairs] = isThorough ? [1_000, 900] : [60, 10];
    const report = await explore({
      seed,
      worlds,
      pairs,
      setup: cronTasks,
      resources: [CronTask, Job],
      async scenario({ client, clock }) {
        const spec = { schedule: "*/5 * * * *", successfulJobsHistoryLimit: 1, jobTemplate };
        await client.create(CronTask, { metadata: nightly, spec });
        // Suspended in the middle between two times of the schedule: a replica that was away for a minute has caught up
        // with the one, and a start that took a minute longer is before the other.
        for (let count = 0; count < 3; count += 1) {
          await clock.sleep(7.5 * MINUTE);
          await endJobs(client, clock);
        }
        await client.patch(CronTask, nightly, { spec: { suspend: true } });
      },
    });
    expect(report.worlds).toBe(Math.min(worlds, report.planned) + pairs);
    expectExactly(roles, report.rules);
  },
);

test("Replace keeps a Job whose end is not yet in the cache", async () => {
  const report = await explore({
    setup: cronTasks,
    resources: [CronTask, Job],
    only: "event-late:20",
    async scenario({ client, clock }) {
      const spec = { schedule: "*/5 * * * *", concurrencyPolicy: "Replace" as const, jobTemplate };
      await client.create(CronTask, { metadata: nightly, spec });
      for (let count = 0; count < 3; count += 1) {
        await clock.sleep(7 * MINUTE);
        await endJobs(client, clock);
      }
      await client.patch(CronTask, nightly, { spec: { suspend: true } });
    },
  });
  expect(report.worlds).toBe(1);
});
