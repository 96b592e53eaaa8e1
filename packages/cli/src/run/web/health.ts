import { jsonReply, type Reply, textReply } from "@holdfast/kit/node";

/** Something that must be so for a program to count as alive, or as ready. */
export interface HealthCheck {
  readonly name: string;
  /** The problem in a few words; undefined if the check passes. */
  readonly problem: () => string | undefined;
}

/**
 * Reply of a health endpoint: 200 and "ok", or 503 and a line for each failed check.
 *
 * @param verbose - as JSON, with the checks that hold
 */
export function healthReply(checks: readonly HealthCheck[], verbose: boolean): Reply {
  const results = checks.map(({ name, problem }) => ({ name, problem: problem() }));
  const failed = results.filter(({ problem }) => problem !== undefined);
  const ok = failed.length === 0;
  const status = ok ? 200 : 503;
  if (verbose) {
    const facts = results.map((result) => ({ ...result, ok: result.problem === undefined }));
    return jsonReply(status, { ok, checks: facts });
  }
  return textReply(
    status,
    ok ? "ok" : failed.map(({ name, problem }) => `${name}: ${problem}`).join("\n"),
  );
}
