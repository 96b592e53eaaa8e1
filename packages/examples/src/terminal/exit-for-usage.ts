import type { CommanderError } from "commander";

/** Ends with 2 where a command line is wrong, and not with commander's 1, which says that a run went wrong. */
export function exitForUsage({ exitCode }: Pick<CommanderError, "exitCode">): never {
  process.exit(exitCode === 0 ? 0 : 2);
}
