/**
 * Specs drawn from the schema of a custom resource, and paths of them, for `fast-check`.
 *
 * @packageDocumentation
 */
export {
  explorePaths,
  findPathError,
  isPathError,
  PathError,
  type PathOptions,
  type PathsReport,
} from "./explore-paths.ts";
export { type SpecOf, type SpecsOptions, specsOf } from "./specs-of.ts";
