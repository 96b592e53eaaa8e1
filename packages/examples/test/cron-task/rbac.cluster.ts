import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { runOperator } from "@holdfast/kubernetes";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { cronTasks } from "../../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../../src/cron-task/resources.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { endJobs, jobTemplate } from "./cron-world.ts";

const DEPLOY = fileURLToPath(new URL("../../src/cron-task/deploy/cron-task.yaml", import.meta.url));

/** Minutes that it runs. */
const MINUTES = Number(process.env["CRON_MINUTES"] ?? 1);

describe("cron-task on a server where roles decide", () => {
  ownServerTest("creates a Job each minute with its rights, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start([DEPLOY], CronTask.crd);
    const { admin, namespace, transport } = cluster;
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "cron-task",
        transport,
        setup: cronTasks,
        logger: silentLogger,
        health: false,
        leaderElection: { namespace },
      },
      stop.signal,
    );
    const metadata = { namespace: "default", name: "each-minute" };
    const podSpec = { restartPolicy: "Never", containers: [{ name: "job", image: "busybox" }] };
    const template = { ...jobTemplate, spec: { template: { spec: podSpec } } };
    const spec = { schedule: "* * * * *", successfulJobsHistoryLimit: 1, jobTemplate: template };
    const stored = await admin.create(CronTask, { metadata, spec });
    expect(stored.spec.concurrencyPolicy).toBe("Allow");
    const wrong = { metadata: { ...metadata, name: "wrong" }, spec: { ...spec, schedule: "*" } };
    await expect(admin.create(CronTask, wrong)).rejects.toThrow("schedule must have five fields");

    const times = new Set<string>();
    await cluster.until(
      async () => {
        for await (const job of admin.list(Job)) {
          times.add(job.metadata.annotations?.["batch.example.org/scheduled-at"] ?? "");
          expect(job.metadata.ownerReferences?.[0]?.name).toBe("each-minute");
        }
        await endJobs(admin, { now: () => Date.now() });
        return times.size > MINUTES;
      },
      (MINUTES + 2) * 60_000,
    );
    const kept: string[] = [];
    await cluster.until(async () => {
      kept.length = 0;
      for await (const { metadata: job } of admin.list(Job)) kept.push(job.name);
      return kept.length === 1;
    });
    const sorted = [...times].map(Date.parse).sort((a, b) => a - b);
    const gaps = sorted.slice(1).map((time, index) => time - (sorted[index] as number));
    expect(gaps).toEqual(gaps.map(() => 60_000)); // none is missed, none is twice
    stop.abort();
    await running;
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  });
});
