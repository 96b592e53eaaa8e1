import { constants } from "node:os";

/** Exit codes of holdfast, as those of timeout(1) and of a shell. */
export const EXIT = {
  ok: 0,
  usage: 2,
  /** The time is over. */
  timeout: 124,
  /** The tool failed, not the command. */
  failed: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

/** 128 + N for a command that signal N has ended. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
