import { runIn } from "../../../../test/run-in.ts";
import { runCommand } from "../../src/bin/run-command.ts";

/** Runs the command line in this process, in a folder. */
export const runBin = (args: readonly string[], cwd: string): ReturnType<typeof runCommand> =>
  runIn(cwd, () => runCommand(args));
