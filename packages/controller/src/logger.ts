import { realClock } from "@holdfast/clock";
import { callSafely } from "@holdfast/kit";

/**
 * Receiver of the log lines of a controller, an elector or a manager.
 *
 * A pino logger works without an adapter: details first, then the message. `console` does not, because
 * it would print the details before the message; {@link consoleLogger} swaps the two. {@link jsonLogger} prints JSON.
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

const printJson =
  (level: keyof Logger) =>
  (details: object, message: string): void => {
    const time = new Date(realClock.now()).toISOString();
    const fields = details instanceof Error ? { err: details } : details;
    const own = { time, level, msg: message };
    // Assigned twice: the record begins with its own fields, and details of the same name do not win.
    console.log(JSON.stringify(jsonOf({ ...own, ...fields, ...own }, [])));
  };

/**
 * Prints every line to the standard output as one line of JSON, for services that collect logs. The default of
 * `runOperator` where the standard output is no terminal.
 *
 * | Field | Value |
 * | --- | --- |
 * | `time` | as `2026-07-01T12:00:00.000Z` |
 * | `level` | `debug`, `info`, `warn` or `error` |
 * | `msg` | the message |
 * | the details | by their names; one named `time`, `level` or `msg` is dropped |
 *
 * An error becomes an object with `name`, `message`, `stack`, and `code`, `cause` and `errors` if it has them. A value
 * that JSON cannot represent becomes text, such as `"[circular]"`.
 *
 * To drop lines for debugging, replace the method: `{ ...jsonLogger, debug() {} }`. For other needs pass a pino logger.
 *
 * @example
 * ```ts no-run
 * import { jsonLogger } from "@holdfast/controller";
 *
 * jsonLogger.info({ controller: "orders" }, "controller started");
 * // {"time":"2026-07-01T12:00:00.000Z","level":"info","msg":"controller started","controller":"orders"}
 * ```
 */
export const jsonLogger: Logger = {
  debug: printJson("debug"),
  info: printJson("info"),
  warn: printJson("warn"),
  error: printJson("error"),
};

/** A value as JSON can represent it. `path` holds the objects around it. */
function jsonOf(value: unknown, path: readonly object[]): unknown {
  if (/^(bigint|symbol|function)$/.test(typeof value)) return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (path.includes(value)) return "[circular]";
  const inside = [...path, value];
  try {
    if ("toJSON" in value && typeof value.toJSON === "function")
      return jsonOf(value.toJSON(), inside);
    if (Array.isArray(value)) return value.map((one) => jsonOf(one, inside));
    const fields = value instanceof Error ? fieldsOf(value) : value;
    return Object.fromEntries(
      Object.entries(fields).map(([name, one]) => [name, jsonOf(one, inside)]),
    );
  } catch {
    return "[unreadable]"; // a getter or toJSON has thrown
  }
}

/** The fields of an error that a log needs, and none that may hold secrets. */
function fieldsOf(error: Error & { code?: unknown; errors?: unknown }): object {
  const { name, message, code, stack, cause, errors } = error;
  return { name, message, code, stack, cause, errors };
}

/**
 * Prints warnings and errors to the console, and drops the rest. The default of every `logger` option,
 * so that no failure is silent.
 */
export const defaultLogger: Logger = {
  ...silentLogger,
  warn: consoleLogger.warn,
  error: consoleLogger.error,
};
