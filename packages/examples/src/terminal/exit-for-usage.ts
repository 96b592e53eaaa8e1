import type { CommanderError } from "commander";

/** Exits with 2 for a bad command line. Commander would exit with 1, the code of a failed run. */
export function exitForUsage({ exitCode }: Pick<CommanderError, "exitCode">): never {
  process.exit(exitCode === 0 ? 0 : 2);
}
