// Webhooks for the versions of CronTask: the module that `manifests` reads in webhook-rights.cluster.ts.
import { mutating, validating } from "@holdfast/kubernetes";
import { CronTasks } from "../../dist/cron-task/resources.js";

export { CronTasks };
export const check = validating(CronTasks.v2, { handle: () => [] });
export const fill = mutating(CronTasks.v2, { handle: () => undefined });
