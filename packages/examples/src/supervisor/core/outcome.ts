import type { RestartPolicy } from "../manifest/manifest.ts";
import type { Exit } from "./process-table.ts";

/** The step after an exit. */
export type Outcome = "restart" | "complete" | "fail";

const outcomes: Record<RestartPolicy, { readonly success: Outcome; readonly failure: Outcome }> = {
  Always: { success: "restart", failure: "restart" },
  OnFailure: { success: "complete", failure: "restart" },
  Never: { success: "complete", failure: "fail" },
};

/** Success is exit code 0; a signal and a failed start are failures. */
export function outcomeOf(policy: RestartPolicy, exit: Exit): Outcome {
  const success = exit.kind === "code" && exit.code === 0;
  return outcomes[policy][success ? "success" : "failure"];
}
