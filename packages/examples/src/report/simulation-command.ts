import { Command, InvalidArgumentError } from "commander";
import { directoryProblem } from "./directory-problem.ts";
import { exitForUsage } from "./exit-for-usage.ts";

/** What every simulation can be told. */
export interface SimulationOptions {
  readonly seed: number;
  readonly json?: true;
  /** A directory for pictures of this run. */
  readonly svg?: string;
}

/** A reader of whole numbers for command lines. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most && text.trim() !== "")
      return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** A run takes long: what its end would fail with is found out before. */
function usableDirectory(text: string): string {
  const problem = directoryProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It ${problem}.`);
}

/** A command line with the options that all simulations have. */
export function simulationCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--seed <number>", "the same seed gives the same run", wholeNumber(0, 2 ** 32 - 1), 1)
    .option("--json", "print the figures as JSON")
    .option("--svg <directory>", "draw this run, too", usableDirectory)
    .helpOption("--help", "show this")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .exitOverride(exitForUsage);
}
