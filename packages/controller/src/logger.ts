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

/**
 * Prints every line to the console: the message, then the details.
 *
 * For small programs and examples; a service passes its pino logger instead.
 */
export const consoleLogger: Logger = {
  debug: (details, message) => console.debug(message, details),
  info: (details, message) => console.info(message, details),
  warn: (details, message) => console.warn(message, details),
  error: (details, message) => console.error(message, details),
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
