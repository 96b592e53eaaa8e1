import { resolve } from "node:path";
import { formatDuration } from "../../terminal/duration.ts";
import type { BackoffSpec, Manifest, ProcessSpec, ReadinessSpec } from "./manifest.ts";
import { formatPath, type ManifestIssue } from "./manifest-issue.ts";
import type { ManifestDraft, ProcessDraft } from "./manifest-schema.ts";

/** The kubelet's: 10 s, doubling to 5 min, starting over after 10 min. */
const KUBELET_BACKOFF: BackoffSpec = {
  duration: 10_000,
  factor: 2,
  jitter: 0,
  cap: 300_000,
  resetAfter: 600_000,
};

/** A pod's `terminationGracePeriodSeconds`. */
const POD_GRACE = 30_000;

function resolveBackoff(...drafts: ManifestDraft["backoff"][]): BackoffSpec {
  const pick = <K extends keyof BackoffSpec>(key: K): BackoffSpec[K] =>
    drafts.find((draft) => draft?.[key] !== undefined)?.[key] ?? KUBELET_BACKOFF[key];
  return {
    duration: pick("duration"),
    factor: pick("factor"),
    jitter: pick("jitter"),
    cap: pick("cap"),
    resetAfter: pick("resetAfter"),
  };
}

function resolveReadiness(draft: ProcessDraft["readiness"]): ReadinessSpec | undefined {
  if (draft === undefined) return undefined;
  const { port, path = "/", period = 10_000, timeout = 1_000, failures = 3 } = draft;
  return { port, path, period, timeout, failures };
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
  const tooShort = (key: "cap" | "resetAfter", wait: string, least: number): ManifestIssue => {
    const isCommon = own?.[key] === undefined && common?.[key] !== undefined;
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

/** Fills in the defaults and checks the relations between fields. */
export function resolveManifest(
  draft: ManifestDraft,
  directory: string,
): { readonly manifest: Manifest; readonly issues: readonly ManifestIssue[] } {
  const processes = new Map<string, ProcessSpec>();
  /** By message: a mistake in several processes is reported once. */
  const issues = new Map<string, ManifestIssue>();
  for (const [name, process] of Object.entries(draft.processes)) {
    const { command, args = [], env = {}, cwd = ".", restart = "Always" } = process;
    const backoff = resolveBackoff(process.backoff, draft.backoff);
    const readiness = resolveReadiness(process.readiness);
    const issue = backoffIssue({ name, own: process.backoff, common: draft.backoff, backoff });
    if (issue !== undefined) issues.set(issue.message, issue);
    const spec = { name, command, args, env, cwd: resolve(directory, cwd), restart };
    processes.set(name, { ...spec, backoff, readiness });
  }
  return { manifest: { grace: draft.grace ?? POD_GRACE, processes }, issues: [...issues.values()] };
}
