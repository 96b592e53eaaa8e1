import { callSafely } from "@holdfast/clock/internal";
import { defaultLogger, type Logger } from "@holdfast/controller";

/** The methods of a `Logger`. */
export const LOGGER = Object.keys(defaultLogger) as readonly (keyof Logger)[];

/** Logs a warning. An error of the logger is dropped: there is nowhere left to report it. */
export function warn(logger: Logger, details: object, message: string): void {
  callSafely(() => logger.warn(details, message));
}
