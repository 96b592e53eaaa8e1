import { z } from "zod";
import { checked } from "../../checked.ts";
import { CRASH_POINTS } from "./crash-point.ts";

const url = z.string().min(1);

const schema = z.object({
  name: z.string().min(1),
  databaseUrl: url,
  webhookUrl: url,
  /** RabbitMQ, instead of the webhook. */
  amqpUrl: url.optional(),
  /** Redis, for the lock of the compensation task, instead of a row in the database. */
  redisUrl: url.optional(),
  crash: z.object({ point: z.enum(CRASH_POINTS), count: z.int().min(1) }).optional(),
});

/** What a worker is told when it is started, as JSON in its first argument. */
export type WorkerOptions = z.infer<typeof schema>;

/** @throws RangeError that names what is wrong */
export function parseWorkerOptions(json: string): WorkerOptions {
  return checked(schema, "options", JSON.parse(json));
}
