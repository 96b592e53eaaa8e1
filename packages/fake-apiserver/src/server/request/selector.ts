import { isObject, type JsonObject, metadataOf, own } from "../../object/json.ts";
import { badRequest } from "../failure.ts";
import type { ApiCall } from "./api-call.ts";
import { parseFieldSelector } from "./field-selector.ts";
import { parseLabelSelector, SelectorError } from "./label-selector.ts";
import { selectableField } from "./selectable-fields.ts";

/** Whether an object is selected. */
export type Selector = (object: JsonObject) => boolean;

/**
 * The namespace, labels and fields that a list or a watch asks for.
 *
 * @throws Failure for a selector that a server refuses
 */
export function selectorOf({ namespace, query, served }: ApiCall): Selector {
  const { labels, fields } = orBadRequest(() => ({
    labels: parseLabelSelector(query.get("labelSelector") ?? ""),
    fields: parseFieldSelector(query.get("fieldSelector") ?? "", (field) =>
      selectableField(served, field),
    ),
  }));
  return (object) => {
    const metadata = metadataOf(object);
    if (namespace !== undefined && metadata["namespace"] !== namespace) return false;
    const found = own(metadata, "labels");
    const given = isObject(found) ? found : {};
    return labels.every((matches) => matches(given)) && fields.every((matches) => matches(object));
  };
}

/** Whether a list or a watch asks for all objects of the namespace. */
export function selectsAll({ query }: ApiCall): boolean {
  return !query.get("labelSelector") && !query.get("fieldSelector");
}

function orBadRequest<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}
