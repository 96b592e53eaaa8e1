/** Receiver of log lines: a `Logger` of `@holdfast/controller`, a pino logger, or one of your own. */
export interface Logger {
  /** Details for debugging. */
  debug(details: object, message: string): void;

  /** Events of a healthy program. */
  info(details: object, message: string): void;

  /** Problems that the program recovers from. */
  warn(details: object, message: string): void;

  /** Problems that need attention. */
  error(details: object, message: string): void;
}

/** A line of a log: its level, its details and its message. */
export type LogLine = readonly [level: keyof Logger, details: object, message: string];

const ignore = (): void => {};

/** Drops every line. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
