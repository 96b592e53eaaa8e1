import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";

interface Step {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

function child(node: Node | undefined, segment: PropertyKey): Step | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === segment);
    return pair && { key: pair.key as Node, value: (pair.value ?? undefined) as Node | undefined };
  }
  if (isSeq(node) && typeof segment === "number")
    return { key: undefined, value: node.items[segment] as Node | undefined };
  return undefined;
}

function startOf({ key, value }: Step, at: "key" | "value"): number | undefined {
  const plain = at === "value" && isScalar(value) && value.source !== "";
  const target = plain ? value : (key ?? value);
  return target?.range?.[0];
}

/**
 * The place of a path of the parsed document in the text: a plain value itself, else its key, else
 * the nearest key above that exists.
 *
 * @returns an offset into the text
 */
export function locate(
  document: Document,
  path: readonly PropertyKey[],
  at: "key" | "value",
): number {
  let node: Node | undefined = document.contents ?? undefined;
  let offset = 0;
  for (const segment of path) {
    const step = child(isAlias(node) ? node.resolve(document) : node, segment);
    if (step === undefined) break;
    node = step.value;
    offset = startOf(step, at) ?? offset;
  }
  return offset;
}
