import { builtIn, customResource, type Resource } from "@holdfast/kubernetes";
import type { Job as JobObject } from "kubernetes-types/batch/v1.js";
import { z } from "zod";
import { scheduleFields, scheduleText, v1 } from "./versions.ts";

const task = {
  timeZone: z.string().default("Etc/UTC").describe("Name of a time zone, such as Europe/Paris"),
  startingDeadlineSeconds: z.int().min(0).optional().describe("After so many a time is missed"),
  concurrencyPolicy: z.enum(["Allow", "Forbid", "Replace"]).default("Allow"),
  suspend: z.boolean().default(false),
  successfulJobsHistoryLimit: z.int().min(0).default(3),
  failedJobsHistoryLimit: z.int().min(0).default(1),
  jobTemplate: z.object({
    metadata: z
      .object({
        labels: z.record(z.string(), z.string()).optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    spec: z.looseObject({}).describe("Spec of a Job"),
  }),
};
const status = z.object({
  active: z.array(z.string()).describe("Names of the Jobs that run"),
  lastScheduleTime: z.iso.datetime().optional(),
});
// The name of a Job has a time after it, and must fit into a label.
const shortName = {
  rule: "self.metadata.name.size() <= 52",
  message: "the name must have at most 52 characters",
};
const columns = [
  { name: "Suspend", path: ".spec.suspend" },
  { name: "Last", path: ".status.lastScheduleTime" },
  { name: "Age", path: ".metadata.creationTimestamp" },
];

/** A schedule, and the Job to create at each of its times, in two versions: as a text, and as fields. */
export const CronTasks = customResource({
  group: "batch.example.org",
  kind: "CronTask",
  plural: "crontasks",
  shortNames: ["ct"],
  versions: {
    v1: {
      spec: z.object({ schedule: scheduleText, ...task }),
      status,
      rules: [
        {
          rule: String.raw`self.spec.schedule.matches('^(\\S+ ){4}\\S+$')`,
          message: "schedule must have five fields, as in */5 * * * *",
          fieldPath: ".spec.schedule",
        },
        shortName,
      ],
      columns: [{ name: "Schedule", path: ".spec.schedule" }, ...columns],
    },
    v2: {
      spec: z.object({ schedule: scheduleFields, ...task }),
      status,
      rules: [shortName],
      columns,
    },
  },
  storage: "v1",
  hub: "v2",
  convert: { v1 },
});

/** The version that the operator uses. */
export const CronTask = CronTasks.v1;

export const Job: Resource<JobObject> = builtIn<JobObject>("batch/v1", "Job");
