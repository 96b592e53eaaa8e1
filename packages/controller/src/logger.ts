import { callSafely } from "@holdfast/clock/internal";

/**
 * Receiver of the log lines of a controller, an elector or a manager.
 *
 * A pino logger works without an adapter: details first, then the message. `console` does not, because
 * it would print the details before the message; {@link consoleLogger} swaps the two.
 *
 * A method must not block. Its errors are dropped.
 */
export interface Logger {
  /** Details for debugging. */
  debug(details: object, message: string): void;

  /** Events of a healthy program. */
  info(details: object, message: string): void;

  /** Problems that the program recovers from. */
  warn(details: object, message: string): void;

  /** Problems that need attention. An error that caused one is `details.err`, as in pino. */
  error(details: object, message: string): void;
}

/** A line of a log: its level, its details and its message. */
export type LogLine = readonly [level: keyof Logger, details: object, message: string];

/** Logs a line. An error of the logger, thrown or rejected, is dropped: no channel is left to report it. */
export function logSafely(logger: Logger, ...[level, details, message]: LogLine): void {
  callSafely(() => logger[level](details, message));
}

const ignore = (): void => {};

/** Drops every line. Pass it as `logger` to turn logging off. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const print =
  (level: keyof Logger) =>
  (details: object, message: string): void => {
    // An error has no keys of its own, and is worth printing.
    const isEmpty = !(details instanceof Error) && Object.keys(details).length === 0;
    console[level](message, ...(isEmpty ? [] : [details]));
  };

/**
 * Prints every line to the console: the message, then the details if there are any.
 *
 * For small programs and examples; a service passes its pino logger instead.
 */
export const consoleLogger: Logger = {
  debug: print("debug"),
  info: print("info"),
  warn: print("warn"),
  error: print("error"),
};

/**
 * Prints warnings and errors to the console, and drops the rest. The default of every `logger` option,
 * so that no failure is silent.
 */
export const defaultLogger: Logger = {
  ...silentLogger,
  warn: consoleLogger.warn,
  error: consoleLogger.error,
};
