import { formatDuration } from "../../arguments.ts";
import type { Exit, Run } from "../core/process-table.ts";

/** "code 1", "SIGKILL" or "not started". */
export function formatExit(exit: Exit): string {
  switch (exit.kind) {
    case "code":
      return `code ${exit.code}`;
    case "signal":
      return exit.signal;
    case "error":
      return "not started";
  }
}

/** How a life ended, in a few words, with the last thing that was written in it. */
export function formatRun({ exit, ran }: Run): string {
  if (exit.kind === "error") return exit.message;
  const words = exit.words === undefined ? "" : `, "${exit.words}"`;
  return `${formatExit(exit)} after ${formatDuration(ran)}${words}`;
}
