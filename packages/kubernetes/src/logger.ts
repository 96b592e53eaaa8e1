import { consoleLogger, defaultLogger, jsonLogger, type Logger } from "@holdfast/controller";
import { callSafely } from "@holdfast/kit";

/** The methods of a `Logger`. */
export const LOGGER = Object.keys(defaultLogger) as readonly (keyof Logger)[];

/** The logger of a program that names none: people read a terminal, programs read everything else. */
export function programLogger(): Logger {
  const isTerminal = process.stdout.isTTY === true;
  return { ...(isTerminal ? consoleLogger : jsonLogger), debug() {} };
}

/** Logs a warning. An error of the logger is dropped: there is nowhere left to report it. */
export function warn(logger: Logger, details: object, message: string): void {
  callSafely(() => logger.warn(details, message));
}
