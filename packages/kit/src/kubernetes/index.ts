/** Code that the Kubernetes packages share. */
export {
  isEqual,
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
  without,
} from "./json.ts";
export { fromRe2, PatternError } from "./re2.ts";
export {
  isWellFormed,
  namespaceName,
  requireApiVersion,
  requireKind,
  requireNamespace,
  requirePlural,
  requireResource,
  requireSegment,
  resourceName,
  segment,
} from "./resource-name.ts";
export { formatMicroseconds, formatSeconds, parseTimestamp } from "./timestamp.ts";
