import { resolve } from "node:path";
import { formatDuration } from "./duration.ts";
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

function backoffIssues(path: readonly string[], backoff: BackoffSpec): ManifestIssue[] {
  const { duration, jitter, cap, resetAfter } = backoff;
  const issue = (key: string, value: number, expected: string): ManifestIssue => ({
    path: [...path, key],
    at: "value",
    message: `${formatPath([...path, key])} is ${formatDuration(value)}; expected ${expected}`,
  });
  if (cap < duration)
    return [issue("cap", cap, `at least the first wait, ${formatDuration(duration)}`)];
  const longest = cap * (1 + jitter);
  if (resetAfter < longest)
    return [
      issue("resetAfter", resetAfter, `at least the longest wait, ${formatDuration(longest)}`),
    ];
  return [];
}

/** Fills in the defaults and checks what no single field can say. */
export function resolveManifest(
  draft: ManifestDraft,
  directory: string,
): { readonly manifest: Manifest; readonly issues: readonly ManifestIssue[] } {
  const processes = new Map<string, ProcessSpec>();
  const issues: ManifestIssue[] = [];
  for (const [name, process] of Object.entries(draft.processes)) {
    const { command, args = [], env = {}, cwd = ".", restart = "Always" } = process;
    const backoff = resolveBackoff(process.backoff, draft.backoff);
    const readiness = resolveReadiness(process.readiness);
    issues.push(...backoffIssues(["processes", name, "backoff"], backoff));
    const spec = { name, command, args, env, cwd: resolve(directory, cwd), restart };
    processes.set(name, { ...spec, backoff, readiness });
  }
  return { manifest: { grace: draft.grace ?? POD_GRACE, processes }, issues };
}
