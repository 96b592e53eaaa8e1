import { printedBy, type Run } from "../../../../test/printed.ts";
import { runIn } from "../../../../test/run-in.ts";
import { runCommand } from "../../src/bin/run-command.ts";

/** Runs the command line in this process, in a folder. */
export const runBin = (args: readonly string[], cwd: string): Promise<Run> =>
  runIn(cwd, () => printedBy((output) => runCommand(args, output)));
