/**
 * 1 if a run has failed. A long run goes on without a contender that fails, and reports it; `--quick` shows that
 * everything runs, so there each counts, and no figure does. With `--compare` each counts too: its claim would be unseen.
 *
 * @param {{ results: any, verdicts: any, options: any, comparison?: { state: string }[] }} facts
 */
export function exitCodeOf({ results, verdicts, options, comparison }) {
  const failed = results.filter(({ error }) => error !== undefined);
  const failsGate = verdicts.some(({ gates, verdict }) => gates && verdict === "missed");
  if (options.quick) return failed.length > 0 ? 1 : 0;
  if (options.compare)
    return failed.length > 0 || failsGate || comparison?.some(({ state }) => state === "worse")
      ? 1
      : 0;
  return failsGate || failed.length === results.length ? 1 : 0;
}
