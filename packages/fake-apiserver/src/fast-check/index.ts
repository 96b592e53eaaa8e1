/**
 * Specs drawn from the schema of a custom resource, paths of them, and checks of its conversions, for `fast-check`.
 *
 * @packageDocumentation
 */
export { type ConversionsOptions, conversionsOf } from "./conversions-of.ts";
export {
  explorePaths,
  isPathError,
  PathError,
  type PathOptions,
  type PathsReport,
} from "./explore-paths.ts";
export { type SpecOf, type SpecsOptions, specsOf } from "./specs-of.ts";
