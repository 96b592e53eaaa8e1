import { z } from "zod";
import { parseDuration } from "../../arguments.ts";
import { isSignalName } from "../../process-group.ts";
import type { BackoffSpec, Condition, RestartPolicy } from "./manifest.ts";

type Partly<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A probe as written, before defaults. */
export interface ProbeDraft {
  readonly http?: number | "auto" | undefined;
  readonly path?: string | undefined;
  readonly tcp?: number | "auto" | undefined;
  readonly host?: string | undefined;
  readonly exec?: string | undefined;
  readonly period?: number | undefined;
  readonly timeout?: number | undefined;
  readonly failures?: number | undefined;
}

/** A dependency with more than its condition, before defaults. */
interface DependencyDraft {
  readonly condition: Condition;
  readonly restart?: boolean | undefined;
}

type BackoffDraft = Partly<BackoffSpec> | "kubelet";

/** A process as written, before defaults. */
export interface ProcessDraft {
  readonly command?: string | readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly envFile?: string | undefined;
  readonly cwd?: string | undefined;
  readonly restart?: RestartPolicy | undefined;
  readonly backoff?: BackoffDraft | undefined;
  readonly maxRestarts?: number | undefined;
  readonly success?: readonly number[] | undefined;
  readonly final?: readonly number[] | undefined;
  readonly grace?: number | undefined;
  readonly stopSignal?: NodeJS.Signals | undefined;
  readonly maxMemory?: number | undefined;
  readonly exitOnEnd?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly dependsOn?: Readonly<Record<string, Condition | DependencyDraft>> | undefined;
  readonly readiness?: ProbeDraft | undefined;
  readonly liveness?: ProbeDraft | undefined;
  readonly startup?: ProbeDraft | undefined;
}

/** A manifest as written, before defaults. */
export interface ManifestDraft {
  readonly grace?: number | undefined;
  readonly backoff?: BackoffDraft | undefined;
  readonly processes: Readonly<Record<string, ProcessDraft>>;
}

// Every `error` below is the end of the sentence "… is …; expected".

function mapping<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const keys = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? `one of ${keys}` : `a mapping of ${keys}`),
  });
}

/** Leaves out the keys that begin with `x-`: they are free, for anchors. */
function withFreeKeys<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
    if (!Object.keys(input).some((key) => key.startsWith("x-"))) return input;
    return Object.fromEntries(Object.entries(input).filter(([key]) => !key.startsWith("x-")));
  }, schema);
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

const TEXT = "text, a number or a boolean";
const text = z
  .union([z.string(), z.number(), z.boolean()], { error: TEXT })
  .transform((value) => String(value));
const path = z.string({ error: "text" }).min(1, { error: "text" });

const backoff = z.union(
  [
    z.literal("kubelet"),
    mapping({
      duration: duration.optional(),
      factor: numberFrom("a number of at least 1", 1).optional(),
      jitter: numberFrom("a number from 0 to 1", 0, 1).optional(),
      cap: duration.optional(),
      resetAfter: duration.optional(),
    }),
  ],
  { error: "kubelet, or a mapping of duration, factor, jitter, cap, resetAfter" },
);

const PORT = "auto, or a whole number from 1 to 65535";
const port = z.union([z.literal("auto"), wholeNumber(PORT, 1, 65_535)], { error: PORT });

const HOST = "the name or the address of a host";

const probe = mapping({
  http: port.optional(),
  path: z
    .string({ error: 'a path that begins with "/"' })
    .startsWith("/", { error: 'a path that begins with "/"' })
    .optional(),
  tcp: port.optional(),
  host: z
    .string({ error: HOST })
    .regex(/^[\w.:-]+$/, { error: HOST })
    .optional(),
  exec: path.optional(),
  period: duration.optional(),
  timeout: duration.optional(),
  failures: wholeNumber("a whole number of at least 1", 1).optional(),
}).refine(
  ({ http, tcp, exec }) => [http, tcp, exec].filter((one) => one !== undefined).length === 1,
  {
    error: "one of http, tcp and exec",
  },
);

const BYTES = { k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 } as const;
const bytes = z.unknown().transform((value, context): number => {
  const [, amount = "", unit] = /^(\d+(?:\.\d+)?)(k|M|G|Ki|Mi|Gi)B?$/.exec(String(value)) ?? [];
  if (Number(amount) > 0) return Number(amount) * BYTES[unit as keyof typeof BYTES];
  context.issues.push({
    code: "custom",
    message: 'a size such as "300Mi" or "1.5GB"',
    input: value,
  });
  return z.NEVER;
});

const CODES = "a list of exit codes from 0 to 255";
const codes = z.array(wholeNumber(CODES, 0, 255), { error: CODES });
const YES_OR_NO = "true or false";
const yesOrNo = z.boolean({ error: YES_OR_NO });

const SIGNAL = "a signal such as SIGTERM";
const signal = z.string({ error: SIGNAL }).refine(isSignalName, { error: SIGNAL });

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

const CONDITION = "ready, started or completed";
const condition = z.enum(["ready", "started", "completed"], { error: CONDITION });
const dependency = z.union([condition, mapping({ condition, restart: yesOrNo.optional() })], {
  error: CONDITION,
});
const PROGRAM = "the program to run";
const command = z.union(
  [
    z.string().min(1, { error: PROGRAM }),
    z.array(text, { error: PROGRAM }).min(1, { error: PROGRAM }),
  ],
  { error: "the program to run, or a list of it and its arguments" },
);

const process = withFreeKeys(
  mapping({
    command: command.optional(),
    args: z.array(text, { error: "a list such as [--port, 8080]" }).optional(),
    shell: path.optional(),
    env: refusingProto(
      z.record(z.string(), text, { error: "a mapping of names to text" }),
      "another name",
    ).optional(),
    envFile: path.optional(),
    cwd: path.optional(),
    restart: z
      .enum(["Always", "OnFailure", "Never"], { error: "Always, OnFailure or Never" })
      .optional(),
    backoff: backoff.optional(),
    maxRestarts: wholeNumber("a whole number of at least 0", 0).optional(),
    success: codes.optional(),
    final: codes.optional(),
    grace: duration.optional(),
    stopSignal: signal.optional(),
    maxMemory: bytes.optional(),
    exitOnEnd: yesOrNo.optional(),
    disabled: yesOrNo.optional(),
    dependsOn: refusingProto(
      z.record(z.string(), dependency, {
        error: `a mapping of names to ${CONDITION}`,
      }),
      "another name",
    ).optional(),
    readiness: probe.optional(),
    liveness: probe.optional(),
    startup: probe.optional(),
  }),
);

const NAME = "a name of at most 63 letters, digits, dots, dashes and underscores";
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, { error: NAME });

/** Schema of a manifest. The message of an issue names the expected value. */
export const manifestSchema: z.ZodType<ManifestDraft> = withFreeKeys(
  mapping({
    grace: duration.optional(),
    backoff: backoff.optional(),
    processes: refusingProto(
      z.record(name, process, { error: "a mapping of names to processes" }),
      NAME,
    ),
  }),
) as z.ZodType<ManifestDraft>;
