import { codeOfSignal, EXIT } from "../../exit-code.ts";
import type { ProcessSpec, RestartPolicy } from "../manifest/manifest.ts";
import type { Exit } from "./process-table.ts";

/** The step after an exit. */
export type Outcome = "restart" | "complete" | "fail";

const outcomes: Record<RestartPolicy, { readonly success: Outcome; readonly failure: Outcome }> = {
  Always: { success: "restart", failure: "restart" },
  OnFailure: { success: "complete", failure: "restart" },
  Never: { success: "complete", failure: "fail" },
};

/** The exit code as a shell counts it: 128 + N for signal N. */
export function codeOf(exit: Exit): number {
  return exit.kind === "signal" ? codeOfSignal(exit.signal) : (exit.code ?? EXIT.failed);
}

/**
 * Success is a code of `success`; a failed start is none. What could not be stopped is not started again.
 *
 * @param isForced - whether the supervisor has ended it, for a failed probe or too much memory
 */
export function outcomeOf(
  { restart, success, final }: Pick<ProcessSpec, "restart" | "success" | "final">,
  exit: Exit,
  isForced: boolean,
): Outcome {
  if (exit.kind === "error" && exit.isLost === true) return "fail";
  const code = codeOf(exit);
  if (!isForced && exit.kind !== "error" && success.includes(code))
    return outcomes[restart].success;
  return !isForced && final.includes(code) ? "fail" : outcomes[restart].failure;
}
