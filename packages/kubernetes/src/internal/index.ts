/**
 * Code that the fake API server shares with this package. Not public: it is not in the reference and may change with
 * any minor version.
 *
 * @hidden
 * @packageDocumentation
 */
export {
  end,
  loadOptional,
  type Result,
  type Run,
  requirePositionals,
  runCommands,
  textOf,
} from "../bin/command.ts";
export { isNotFound } from "../client/api-error.ts";
export { requireResource, resourceName } from "../object/resource.ts";
export { requireNamespace, requireSegment } from "../object/resource-name.ts";
export { formatSeconds } from "../object/timestamp.ts";
export {
  isEqual,
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
  without,
} from "../schema/json.ts";
export { fromRe2, PatternError } from "../schema/re2.ts";
export { readBody } from "../transport/read-body.ts";
