import { z } from "zod";
import { parseDuration } from "../../terminal/duration.ts";
import type { BackoffSpec, ReadinessSpec, RestartPolicy } from "./manifest.ts";

type Partly<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A process as written, before defaults. */
export interface ProcessDraft {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly restart?: RestartPolicy | undefined;
  readonly backoff?: Partly<BackoffSpec> | undefined;
  readonly readiness?: (Partly<ReadinessSpec> & Pick<ReadinessSpec, "port">) | undefined;
}

/** A manifest as written, before defaults. */
export interface ManifestDraft {
  readonly grace?: number | undefined;
  readonly backoff?: Partly<BackoffSpec> | undefined;
  readonly processes: Readonly<Record<string, ProcessDraft>>;
}

// Every `error` below is the end of the sentence "… is …; expected".

function mapping<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const keys = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? `one of ${keys}` : `a mapping of ${keys}`),
  });
}

function numberFrom(error: string, least: number, most = Number.MAX_VALUE): z.ZodNumber {
  return z.number({ error }).min(least, { error }).max(most, { error });
}

function wholeNumber(error: string, least: number, most?: number): z.ZodNumber {
  return numberFrom(error, least, most).int({ error });
}

const duration = z.unknown().transform((value, context): number => {
  const parsed = typeof value === "string" ? parseDuration(value) : undefined;
  if (parsed !== undefined && parsed > 0) return parsed;
  const message = 'a duration above 0, such as "500ms", "2s" or "1m30s"';
  context.issues.push({ code: "custom", message, input: value });
  return z.NEVER;
});

const text = z.string({ error: 'text; put it in quotes, as in "8080"' });

const backoff = mapping({
  duration: duration.optional(),
  factor: numberFrom("a number of at least 1", 1).optional(),
  jitter: numberFrom("a number from 0 to 1", 0, 1).optional(),
  cap: duration.optional(),
  resetAfter: duration.optional(),
});

const PORT = "auto, or a whole number from 1 to 65535";

const readiness = mapping({
  port: z.union([z.literal("auto"), wholeNumber(PORT, 1, 65_535)], { error: PORT }),
  path: text.startsWith("/", { error: 'a path that begins with "/"' }).optional(),
  period: duration.optional(),
  timeout: duration.optional(),
  failures: wholeNumber("a whole number of at least 1", 1).optional(),
});

/** A record that refuses the key `__proto__`, which `z.record` drops without an issue. */
function refusingProto<Record extends z.ZodRecord>(record: Record, expected: string) {
  const key = "__proto__";
  return z.preprocess((input, { issues }) => {
    if (typeof input === "object" && input !== null && Object.hasOwn(input, key)) {
      const refusals = [{ code: "custom" as const, message: expected, path: [] }];
      issues.push({ code: "invalid_key", origin: "record", path: [key], input, issues: refusals });
    }
    return input;
  }, record);
}

const process = mapping({
  command: z.string({ error: "the program to run" }).min(1, { error: "the program to run" }),
  args: z.array(text, { error: 'a list such as ["--port", "8080"]' }).optional(),
  env: refusingProto(
    z.record(text, text, { error: "a mapping of names to text" }),
    "another name",
  ).optional(),
  cwd: text.optional(),
  restart: z
    .enum(["Always", "OnFailure", "Never"], { error: "Always, OnFailure or Never" })
    .optional(),
  backoff: backoff.optional(),
  readiness: readiness.optional(),
});

const NAME = "a name of at most 63 letters, digits, dots, dashes and underscores";
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, { error: NAME });

/** Schema of a manifest. The message of an issue names the expected value. */
export const manifestSchema: z.ZodType<ManifestDraft> = mapping({
  grace: duration.optional(),
  backoff: backoff.optional(),
  processes: refusingProto(
    z.record(name, process, { error: "a mapping of names to processes" }),
    NAME,
  ),
});
