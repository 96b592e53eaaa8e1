import { getEventListeners } from "node:events";

/** How many `abort` listeners a signal has. */
export function abortListeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
