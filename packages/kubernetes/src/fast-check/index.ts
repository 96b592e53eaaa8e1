/**
 * Specs drawn from the schema of a custom resource, for `fast-check`.
 *
 * @packageDocumentation
 */
export { type SpecOf, type SpecsOptions, specsOf } from "./specs-of.ts";
