/**
 * A span for each reconcile.
 *
 * @packageDocumentation
 */

export { type TracedOptions, type TracedRequest, traced } from "./traced.ts";
