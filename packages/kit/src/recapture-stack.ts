interface ErrorClass {
  captureStackTrace?(error: Error, below: unknown): void;
}

/**
 * Replaces the stack of an error by the current one, without the function `below` and its callees. For an
 * error that a timer made: its own stack shows no caller. Without V8 the error stays as it is.
 */
export function recaptureStack(error: Error, below: unknown): void {
  (Error as ErrorClass).captureStackTrace?.(error, below);
}
