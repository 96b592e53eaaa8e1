import { Command, InvalidArgumentError } from "commander";
import { wholeNumber } from "./arguments.ts";
import { directoryProblem } from "./directory-problem.ts";
import { exitForUsage } from "./exit-for-usage.ts";

/** Options of every simulation. */
export interface SimulationOptions {
  readonly seed: number;
  readonly json?: true;
  /** A directory for the pictures of this run. */
  readonly svg?: string;
}

/** Checks the directory before a long run, not after it. */
function usableDirectory(text: string): string {
  const problem = directoryProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`${text} ${problem}. Choose another directory.`);
}

/** Creates a command line with the options of every simulation. */
export function simulationCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option(
      "--seed <number>",
      "seed of the random numbers; equal seeds give equal runs",
      wholeNumber(0, 2 ** 32 - 1),
      1,
    )
    .option("--json", "print figures as JSON")
    .option("--svg <directory>", "also draw this run as SVG", usableDirectory)
    .helpOption("--help", "show this help")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .exitOverride(exitForUsage);
}
