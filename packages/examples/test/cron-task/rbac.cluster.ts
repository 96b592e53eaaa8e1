import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  customResource,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  runOperator,
} from "@holdfast/kubernetes";
import { afterAll, describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { cronTasks } from "../../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../../src/cron-task/resources.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { endJobs, jobTemplate } from "./cron-world.ts";

/** The server of the tests has CustomResourceDefinitions and no Jobs: one stands for the other. */
const group = "jobs.example.org";
const JobCrd = customResource<KubeObject>({
  apiVersion: `${group}/v1`,
  kind: "Job",
  plural: "jobs",
  spec: { type: "object", properties: { template: { type: "object" } } },
  status: { type: "object" },
});

/** Asks for the Jobs of the server as for those of Kubernetes. */
function withJobs(transport: KubeTransport): KubeTransport {
  return {
    ...transport,
    send: ({ path, body, ...request }, signal) => {
      const more = body === undefined ? {} : { body: body.replace('"batch/v1"', `"${group}/v1"`) };
      return transport.send(
        { ...request, ...more, path: path.replace("/apis/batch/", `/apis/${group}/`) },
        signal,
      );
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), "cron-task-"));
const deploy = new URL("../../src/cron-task/deploy/cron-task.yaml", import.meta.url);
const manifests = Object.entries({
  "crd.yaml": JSON.stringify(CronTask.crd),
  "jobs.yaml": JSON.stringify(JobCrd.crd),
  "deploy.yaml": readFileSync(deploy, "utf8").replace("[batch]", `[${group}]`),
}).map(([name, text]) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Minutes that it runs. */
const MINUTES = Number(process.env["CRON_MINUTES"] ?? 1);

describe("cron-task on a server where roles decide", () => {
  ownServerTest("creates a Job each minute with its rights, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start(manifests);
    const { namespace, server } = cluster;
    const { url, ca, adminToken } = server;
    const transport = withJobs(atUrl(url, { ca, token: () => adminToken }));
    const admin = new KubeClient({ transport, logger: silentLogger });
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "cron-task",
        transport: withJobs(cluster.transport),
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
