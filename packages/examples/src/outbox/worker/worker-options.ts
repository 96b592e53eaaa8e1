import { z } from "zod";
import { checked } from "../checked.ts";
import { DATABASES, type DatabaseName } from "../database/dialect.ts";
import { CRASH_POINTS, type Crash } from "./crash-point.ts";

/** Options of a worker: JSON in its first argument. */
export interface WorkerOptions {
  readonly name: string;
  readonly database: DatabaseName;
  readonly databaseUrl: string;
  /** Where messages go: the URL of a webhook, or of a RabbitMQ. */
  readonly target: string;
  /** Redis, for the lock of the recovery task, instead of a row in the database. */
  readonly redisUrl?: string | undefined;
  readonly crash?: Crash | undefined;
}

/** @throws RangeError that names the invalid option */
export function parseWorkerOptions(json: string): WorkerOptions {
  const text = z.string().min(1);
  const schema = z.object({
    name: text,
    database: z.enum(DATABASES),
    databaseUrl: text,
    target: text,
    redisUrl: text.optional(),
    crash: z.object({ point: z.enum(CRASH_POINTS), count: z.int().min(1) }).optional(),
  });
  return checked(schema, "options", JSON.parse(json));
}
