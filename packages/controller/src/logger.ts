/**
 * Where a controller, an elector or a manager says what it does.
 *
 * A pino logger fits as it is: details first, then the message. `console` does not, because it would
 * print the details before the message; {@link consoleLogger} turns them round.
 *
 * A method must neither throw nor wait.
 */
export interface Logger {
  /** What helps to follow the program step by step. */
  debug(details: object, message: string): void;

  /** What happens in a healthy program. */
  info(details: object, message: string): void;

  /** What the program recovers from by itself. */
  warn(details: object, message: string): void;

  /** What somebody should look at. An error that caused it is `details.err`, as pino has it. */
  error(details: object, message: string): void;
}

const ignore = (): void => {};

/** Says nothing. The default wherever a logger is an option. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Writes to the console: the message, then the details.
 *
 * For small programs and examples; a service gives its pino logger instead.
 */
export const consoleLogger: Logger = {
  debug: (details, message) => console.debug(message, details),
  info: (details, message) => console.info(message, details),
  warn: (details, message) => console.warn(message, details),
  error: (details, message) => console.error(message, details),
};
