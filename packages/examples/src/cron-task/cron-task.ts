import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { ReconcileRequest, ReconcileResult, Runnable } from "@holdfast/controller";
import {
  type CachedObject,
  fromKubectl,
  generationChanged,
  inCluster,
  isApiError,
  type ObjectOf,
  type OperatorContext,
  ownerOf,
  ownerReference,
  runOperator,
} from "@holdfast/kubernetes";
import { Cron } from "croner";
import type { Job as JobObject } from "kubernetes-types/batch/v1.js";
import { CronTask, CronTasks, Job } from "./resources.ts";

type Task = CachedObject<ObjectOf<typeof CronTask>>;
type Child = CachedObject<JobObject>;
type JobTemplate = Pick<JobObject, "metadata" | "spec">;

/** Annotation of a Job: the time of the schedule for which it was created. */
const SCHEDULED_AT = "batch.example.org/scheduled-at";

/** Creates a Job at each time of the schedule of a CronTask. */
export function cronTasks(context: OperatorContext): () => Runnable[] {
  const { cluster, client, clock, controller, events } = context;
  const tasks = cluster.watch(CronTask);
  const jobs = cluster.watch(Job, { indexes: { owner: uidsOfOwners } });

  async function reconcile({ key, signal }: ReconcileRequest): Promise<ReconcileResult> {
    const task = tasks.get(key);
    // The server deletes the Jobs of a deleted object.
    if (task === undefined || task.metadata.deletionTimestamp !== undefined) return;
    const children = jobs.by("owner", task.metadata.uid).sort((a, b) => timeOf(a) - timeOf(b));
    const latest = Math.max(timestamp(task.status?.lastScheduleTime), ...children.map(timeOf));
    // First the status: the time of a Job that is deleted must be in it.
    await report(task, children, latest, signal);
    await remove(history(children, "Complete", task.spec.successfulJobsHistoryLimit), signal);
    await remove(history(children, "Failed", task.spec.failedJobsHistoryLimit), signal);
    if (task.spec.suspend) return;
    const now = clock.now();
    const times = timesOf(task, now);
    if (times === undefined) return;
    const { due, next } = times;
    const active = children.filter(isActive);
    if (isWanted(task, { due, now, latest, active: active.length })) {
      if (task.spec.concurrencyPolicy === "Replace") await remove(active, signal);
      await start(task, due, signal);
    }
    return { requeueAfter: next - now };
  }

  async function report(
    { metadata: { name, namespace }, status }: Task,
    children: readonly Child[],
    latest: number,
    signal: AbortSignal,
  ): Promise<void> {
    const active = children.filter(isActive).map((job) => job.metadata.name);
    const observed = { active, ...(latest > 0 && { lastScheduleTime: iso(latest) }) };
    if (isDeepStrictEqual(observed, { ...status })) return;
    const applied = { metadata: { name, namespace }, status: observed };
    await client.apply(CronTask, applied, { subresource: "status", signal });
  }

  /** Creates the Job of a time. It always has the same name, so a repetition after a crash changes nothing. */
  async function start(task: Task, due: number, signal: AbortSignal): Promise<void> {
    const { metadata: template, spec } = task.spec.jobTemplate as unknown as JobTemplate;
    const metadata = {
      ...template,
      name: `${task.metadata.name}-${due / 60_000}`,
      namespace: task.metadata.namespace,
      annotations: { ...template?.annotations, [SCHEDULED_AT]: iso(due) },
      ownerReferences: [ownerReference(CronTask, task)],
    };
    try {
      await client.create(Job, { metadata, spec }, { signal });
    } catch (error) {
      if (isApiError(error, "AlreadyExists")) return;
      throw error;
    }
    const note = `created job ${metadata.name}`;
    events.record(task, { reason: "SuccessfulCreate", action: "Create", note });
  }

  async function remove(unwanted: readonly Child[], signal: AbortSignal): Promise<void> {
    for (const { metadata } of unwanted) {
      const { name, namespace, uid, resourceVersion } = metadata;
      await client.delete(
        Job,
        { name, namespace },
        { uid, resourceVersion, propagation: "Background", signal },
      );
    }
  }

  /** The last time of a schedule and the next. One that cannot be read is an Event, and waits for a change. */
  function timesOf(task: Task, now: number): { due: number; next: number } | undefined {
    const { schedule, timeZone: timezone } = task.spec;
    try {
      const cron = new Cron(schedule, { timezone, mode: "5-part", paused: true });
      const [due] = cron.previousRuns(1, new Date(now + 1));
      const next = cron.nextRun(new Date(now));
      return { due: due?.getTime() ?? 0, next: next?.getTime() ?? Number.POSITIVE_INFINITY };
    } catch (error) {
      const note = `schedule "${schedule}" in ${timezone}: ${(error as Error).message}`;
      const reason = "UnparseableSchedule";
      events.record(task, { type: "Warning", reason, action: "Schedule", note });
      return undefined;
    }
  }

  return () => [
    controller({
      name: "cron-task",
      workers: 4,
      timeout: 30_000,
      sources: [tasks.source({ when: generationChanged }), jobs.source({ to: ownerOf(CronTask) })],
      reconcile,
    }),
  ];
}

interface Moment {
  /** Last time of the schedule. */
  readonly due: number;
  readonly now: number;
  /** Last time for which there was a Job. */
  readonly latest: number;
  /** Number of Jobs that run. */
  readonly active: number;
}

/** Whether a Job is to start for the last time of the schedule. */
function isWanted({ metadata, spec }: Task, { due, now, latest, active }: Moment): boolean {
  if (due <= Math.max(latest, timestamp(metadata.creationTimestamp))) return false;
  const { startingDeadlineSeconds: deadline = Number.POSITIVE_INFINITY, concurrencyPolicy } = spec;
  return now - due <= deadline * 1_000 && (concurrencyPolicy !== "Forbid" || active === 0);
}

/** The Jobs with an end that are too many: the oldest ones. */
function history(children: readonly Child[], end: string, limit: number): readonly Child[] {
  const ended = children.filter((job) => endOf(job) === end);
  return ended.slice(0, Math.max(0, ended.length - limit));
}

function isActive(job: Child): boolean {
  return endOf(job) === undefined;
}

function uidsOfOwners({ metadata }: Child): string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}

function timeOf({ metadata }: Child): number {
  return timestamp(metadata.annotations?.[SCHEDULED_AT]);
}

/** The type of the condition that ended a Job, undefined for one that runs. */
function endOf({ status }: Child): string | undefined {
  const ended = status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  return ended?.type;
}

const timestamp = (text = ""): number => Date.parse(text) || 0;
const iso = (time: number): string => new Date(time).toISOString();

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await runOperator({
    name: "cron-task",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: cronTasks,
    health: { port: Number(process.env["PORT"] ?? 8_080) },
    webhooks: { convert: [CronTasks], service: "cron-task" },
    signals: process,
  });
