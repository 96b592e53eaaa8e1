export { type TracedOptions, type TracedRequest, traced } from "./traced.ts";
