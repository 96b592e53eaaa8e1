import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { formatDuration, shellLaunch } from "../../arguments.ts";
import {
  type BackoffSpec,
  type Manifest,
  type ProbeSpec,
  type ProcessSpec,
  portsOf,
} from "./manifest.ts";
import { formatPath, type ManifestIssue } from "./manifest-issue.ts";
import type { ManifestDraft, ProbeDraft, ProcessDraft } from "./manifest-schema.ts";

const DEFAULT_BACKOFF: BackoffSpec = {
  duration: 1_000,
  factor: 2,
  jitter: 0,
  cap: 30_000,
  resetAfter: 60_000,
};

/** The kubelet's: 10 s, doubling to 5 min, starting over after 10 min. */
const KUBELET_BACKOFF: BackoffSpec = {
  duration: 10_000,
  factor: 2,
  jitter: 0,
  cap: 300_000,
  resetAfter: 600_000,
};

const DEFAULT_GRACE = 10_000;

function resolveBackoff(...drafts: ManifestDraft["backoff"][]): BackoffSpec {
  const pick = <K extends keyof BackoffSpec>(key: K): BackoffSpec[K] => {
    for (const draft of drafts) {
      if (draft === "kubelet") return KUBELET_BACKOFF[key];
      if (draft?.[key] !== undefined) return draft[key] as BackoffSpec[K];
    }
    return DEFAULT_BACKOFF[key];
  };
  return {
    duration: pick("duration"),
    factor: pick("factor"),
    jitter: pick("jitter"),
    cap: pick("cap"),
    resetAfter: pick("resetAfter"),
  };
}

function resolveProbe(draft: ProbeDraft | undefined): ProbeSpec | undefined {
  if (draft === undefined) return undefined;
  const {
    http,
    path = "/",
    tcp,
    host,
    exec = "",
    period = 10_000,
    timeout = 1_000,
    failures = 3,
  } = draft;
  const times = { period, timeout, failures };
  if (http !== undefined) return { target: { kind: "http", port: http, path, host }, ...times };
  if (tcp !== undefined) return { target: { kind: "tcp", port: tcp, host }, ...times };
  return { target: { kind: "exec", line: exec }, ...times };
}

/** A mistake in one process. */
function issueAt(name: string, keys: readonly PropertyKey[], problem: string): ManifestIssue {
  const path = ["processes", name, ...keys];
  return { path, at: "value", message: `${formatPath(path)} ${problem}` };
}

/** The backoff of a process, and where its words stand. */
interface ResolvedBackoff {
  readonly name: string;
  readonly own: ProcessDraft["backoff"];
  readonly common: ManifestDraft["backoff"];
  readonly backoff: BackoffSpec;
}

function backoffIssue({ name, own, common, backoff }: ResolvedBackoff): ManifestIssue | undefined {
  const { duration, jitter, cap, resetAfter } = backoff;
  const isIn = (draft: ManifestDraft["backoff"], key: keyof BackoffSpec): boolean =>
    typeof draft === "object" && draft[key] !== undefined;
  const tooShort = (key: "cap" | "resetAfter", wait: string, least: number): ManifestIssue => {
    const isCommon = !isIn(own, key) && isIn(common, key);
    const path = isCommon ? ["backoff", key] : ["processes", name, "backoff", key];
    const whose = isCommon && own !== undefined ? ` of processes.${name}` : "";
    const expected = `at least the ${wait} wait${whose}, ${formatDuration(least)}`;
    const message = `${formatPath(path)} is ${formatDuration(backoff[key])}; expected ${expected}`;
    return { path, at: "value", message };
  };
  if (cap < duration) return tooShort("cap", "first", duration);
  const longest = cap * (1 + jitter);
  return resetAfter < longest ? tooShort("resetAfter", "longest", longest) : undefined;
}

/** Program and arguments from `command`, `args` and `shell`, or what is wrong with them. */
function launchOf(name: string, { command, args, shell }: ProcessDraft) {
  if (shell !== undefined && (command ?? args) !== undefined)
    return issueAt(name, ["shell"], "stands beside command or args; expected one of both");
  if (shell !== undefined) return shellLaunch(shell);
  if (command === undefined)
    return issueAt(name, ["command"], "is missing; expected the program to run, or shell: LINE");
  if (typeof command === "string") return { file: command, args: args ?? [] };
  const [file = "", ...own] = command;
  return { file, args: [...own, ...(args ?? [])] };
}

/** Variables of `envFile`, then those of `env`. */
function envOf(
  name: string,
  { env = {}, envFile }: ProcessDraft,
  { directory, textOf }: Surroundings,
) {
  if (envFile === undefined) return env;
  try {
    const variables = parseEnv(textOf(resolve(directory, envFile)));
    return { ...(variables as Record<string, string>), ...env };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return issueAt(name, ["envFile"], `is ${envFile}; it cannot be read: ${code ?? message}`);
  }
}

function isIssue(value: object): value is ManifestIssue {
  return "message" in value && "path" in value && "at" in value;
}

/** What is wrong with the conditions of a process. */
function dependencyIssues(
  spec: ProcessSpec,
  processes: ReadonlyMap<string, ProcessSpec>,
  drafts: ManifestDraft["processes"],
): ManifestIssue[] {
  const { name, dependsOn } = spec;
  return Object.entries(dependsOn).flatMap(([other, condition]): ManifestIssue[] => {
    const at = (problem: string): ManifestIssue[] => [
      { ...issueAt(name, ["dependsOn", other], problem), at: "key" },
    ];
    const target = processes.get(other);
    if (Object.hasOwn(drafts, other) && drafts[other]?.disabled === true) return at("is disabled");
    if (target === undefined) return at("is no process of this manifest");
    if (condition === "ready" && target.readiness === undefined)
      return at(`waits for ready; expected a readiness check of ${other}`);
    const cycle = cycleFrom(name, other, processes);
    return cycle === undefined ? [] : at(`is a cycle: ${cycle.join(" → ")}`);
  });
}

/** The way from `name` over `next` back to `name`, if there is one. */
function cycleFrom(
  name: string,
  next: string,
  processes: ReadonlyMap<string, ProcessSpec>,
): readonly string[] | undefined {
  /** Those from which no way was found, or that are on the way: a second visit finds nothing more. */
  const seen = new Set<string>();
  const wayBack = (from: string): readonly string[] | undefined => {
    if (from === name) return [name];
    if (seen.has(from)) return undefined;
    seen.add(from);
    for (const after of Object.keys(processes.get(from)?.dependsOn ?? {})) {
      const way = wayBack(after);
      if (way !== undefined) return [from, ...way];
    }
    return undefined;
  };
  const way = wayBack(next);
  return way && [name, ...way];
}

/** What a process does when it ends, and how it is stopped. */
function policiesOf({
  exitOnEnd = false,
  restart = exitOnEnd ? "Never" : "Always",
  ...process
}: ProcessDraft) {
  const { maxRestarts = Number.POSITIVE_INFINITY, maxMemory = Number.POSITIVE_INFINITY } = process;
  const { success = [0], final = [], stopSignal = "SIGTERM" } = process;
  return { exitOnEnd, restart, maxRestarts, maxMemory, success, final, stopSignal } as const;
}

/** The conditions of other processes, and those with which a process restarts. */
function dependenciesOf({ dependsOn = {} }: ProcessDraft) {
  const all = Object.entries(dependsOn).map(([name, value]) => {
    return { name, ...(typeof value === "string" ? { condition: value } : value) };
  });
  const restartWith = all.filter(({ restart }) => restart === true).map(({ name }) => name);
  return {
    dependsOn: Object.fromEntries(all.map(({ name, condition }) => [name, condition])),
    restartWith: restartWith.length === 0 ? undefined : restartWith,
  };
}

function portIssue(spec: ProcessSpec): ManifestIssue | undefined {
  const ports = portsOf(spec);
  if (!ports.includes("auto") || ports.every((port) => port === "auto")) return undefined;
  return issueAt(
    spec.name,
    [],
    "has probes with the port auto and with a fixed one; expected one of both",
  );
}

/** The text of a file that a manifest names, by its absolute path; throws why it cannot be read. */
export type TextOf = (path: string) => string;

interface Surroundings {
  readonly draft: ManifestDraft;
  readonly directory: string;
  readonly textOf: TextOf;
  readonly report: (issue: ManifestIssue | undefined) => void;
}

/** @returns undefined for a process that is disabled or wrong */
function resolveProcess(
  name: string,
  process: ProcessDraft,
  surroundings: Surroundings,
): ProcessSpec | undefined {
  const { draft, directory, report } = surroundings;
  const backoff = resolveBackoff(process.backoff, draft.backoff);
  report(backoffIssue({ name, own: process.backoff, common: draft.backoff, backoff }));
  const launch = launchOf(name, process);
  const env = envOf(name, process, surroundings);
  if (isIssue(launch)) report(launch);
  if (isIssue(env)) report(env);
  if (isIssue(launch) || isIssue(env) || process.disabled === true) return undefined;
  const { cwd = ".", grace = draft.grace } = process;
  const spec: ProcessSpec = {
    name,
    command: launch.file,
    args: launch.args,
    env,
    cwd: resolve(directory, cwd),
    backoff,
    ...policiesOf(process),
    grace: grace ?? DEFAULT_GRACE,
    ...dependenciesOf(process),
    readiness: resolveProbe(process.readiness),
    liveness: resolveProbe(process.liveness),
    startup: resolveProbe(process.startup),
  };
  report(portIssue(spec));
  return spec;
}

/** Fills in the defaults and checks the relations between fields. */
export function resolveManifest(
  draft: ManifestDraft,
  directory: string,
  textOf: TextOf,
): { readonly manifest: Manifest; readonly issues: readonly ManifestIssue[] } {
  const processes = new Map<string, ProcessSpec>();
  /** By message: a mistake in several processes is reported once. */
  const issues = new Map<string, ManifestIssue>();
  const report = (issue: ManifestIssue | undefined): void => {
    if (issue !== undefined) issues.set(issue.message, issue);
  };
  for (const [name, process] of Object.entries(draft.processes)) {
    const spec = resolveProcess(name, process, { draft, directory, textOf, report });
    if (spec !== undefined) processes.set(name, spec);
  }
  for (const spec of processes.values())
    for (const issue of dependencyIssues(spec, processes, draft.processes)) report(issue);
  return { manifest: { processes }, issues: [...issues.values()] };
}
