import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi, type RoleManifest } from "@holdfast/fake-apiserver";
import { builtIn, type KubeClient, type KubeObject, runOperator } from "@holdfast/kubernetes";
import { expect } from "vitest";
import { cronTasks } from "../../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../../src/cron-task/resources.ts";

interface EventObject extends KubeObject {
  reason?: string;
  note?: string;
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");

export const MINUTE = 60_000;
export const nightly = { namespace: "default", name: "nightly" };
export const jobTemplate = {
  spec: { template: { spec: { containers: [{ name: "job", image: "busybox" }] } } },
};

/** Ends each Job, as the controller of a cluster does when its Pods have ended. */
export async function endJobs(
  client: KubeClient,
  clock: Pick<Clock, "now">,
  type: "Complete" | "Failed" = "Complete",
): Promise<void> {
  for await (const { metadata, status } of client.list(Job)) {
    if (status?.conditions !== undefined) continue;
    const at = new Date(clock.now()).toISOString();
    const condition = { type, status: "True", lastTransitionTime: at, lastProbeTime: at };
    const ended = type === "Complete" ? { completionTime: at } : {};
    const ref = { namespace: metadata.namespace, name: metadata.name };
    await client.patch(
      Job,
      ref as { name: string; namespace: string },
      { status: { startTime: at, ...ended, conditions: [condition] } },
      { subresource: "status" },
    );
  }
}

/** The operator on a fake API server, from 2026-01-01, 00:00:30. */
export class CronWorld {
  readonly clock: FakeClock = new FakeClock({ now: Date.UTC(2026, 0, 1, 0, 0, 30) });
  readonly api: FakeApi;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #isElected: boolean;

  /** @param rules - roles of the operator, which then leads by a Lease. Without them it may do everything */
  constructor(rules?: readonly RoleManifest[]) {
    this.#isElected = rules !== undefined;
    this.api = new FakeApi({ clock: this.clock, resources: [CronTask, Job, Event, Lease], rules });
  }

  /** Runs a test on the fake clock, with an operator. */
  async run(test: () => Promise<void>): Promise<void> {
    await this.clock.run(async () => {
      this.start();
      await test();
      await this.stop();
    });
  }

  start(): void {
    this.#stop = new AbortController();
    this.#running = runOperator(
      {
        name: "cron-task",
        transport: this.api.transport,
        setup: cronTasks,
        clock: this.clock,
        random: () => 0.5,
        logger: silentLogger,
        leaderElection: this.#isElected && { namespace: "cron-task" },
        health: false,
      },
      this.#stop.signal,
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running.catch(() => undefined); // without a right it may fail
  }

  async create(spec: Partial<Parameters<typeof this.patch>[0]> = {}): Promise<void> {
    const whole = { schedule: "*/5 * * * *", jobTemplate, ...spec };
    await this.api.client.create(CronTask, { metadata: nightly, spec: whole });
  }

  async patch(spec: {
    schedule?: string;
    timeZone?: string;
    suspend?: boolean;
    concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  }): Promise<void> {
    await this.api.client.patch(CronTask, nightly, { spec });
  }

  /** The times of the Jobs that there are, as `01-01 00:05`, and their ends. */
  async jobs(): Promise<string[]> {
    const found: string[] = [];
    for await (const { metadata, status } of this.api.client.list(Job)) {
      const time = metadata.annotations?.["batch.example.org/scheduled-at"] ?? "";
      const end = status?.conditions?.[0]?.type;
      found.push(`${time.slice(5, 16).replace("T", " ")}${end === undefined ? "" : ` ${end}`}`);
    }
    return found.sort();
  }

  async status() {
    return (await this.api.client.get(CronTask, nightly)).status;
  }

  async events(): Promise<string[]> {
    const found: string[] = [];
    for await (const { reason, note } of this.api.client.list(Event))
      found.push(`${reason}: ${note}`);
    return found.sort();
  }
}

/** Runs a test in a world of its own, which leaves no waiter on the clock. */
export async function inWorld(run: (world: CronWorld) => Promise<void>): Promise<void> {
  const world = new CronWorld();
  await world.run(() => run(world));
  expect(world.clock.waiters()).toBe(0);
}
