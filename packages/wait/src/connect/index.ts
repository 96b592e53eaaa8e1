/**
 * Connections that are opened with growing delays, and come back.
 *
 * @packageDocumentation
 */

export type { ConnectAttempt, ConnectOptions, ConnectRetry } from "./connect-options.ts";
export { connectWithBackoff } from "./connect-with-backoff.ts";
export { type KeepConnectedOptions, keepConnected } from "./keep-connected.ts";
