/**
 * 1 if a run has failed. A long run goes on without a contender that fails, and reports it; `--quick` shows that
 * everything runs, so there each counts, and no figure does.
 */
export function exitCodeOf({ results, verdicts, options }) {
  const failed = results.filter(({ error }) => error !== undefined);
  if (options.quick) return failed.length > 0 ? 1 : 0;
  const failsGate = verdicts.some(({ gates, verdict }) => gates && verdict === "missed");
  return failsGate || failed.length === results.length ? 1 : 0;
}
