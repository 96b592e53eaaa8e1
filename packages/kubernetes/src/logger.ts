import { defaultLogger, type Logger } from "@holdfast/controller";

/** The methods of a `Logger`. */
export const LOGGER: readonly string[] = Object.keys(defaultLogger);

/** Logs a warning. An error of the logger is dropped: there is nowhere left to report it. */
export function warn(logger: Logger, details: object, message: string): void {
  try {
    // An async function is a `Logger` as well: its types allow any return value.
    void Promise.resolve<unknown>(logger.warn(details, message)).catch(() => {});
  } catch {
    // Dropped, as said above.
  }
}
