import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import type { Yaml } from "./read-yaml.ts";

interface Step {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

type Pairs = ReadonlyMap<string, Pair<unknown, unknown>>;

function startOf({ key, value }: Step, at: "key" | "value"): number | undefined {
  const plain = at === "value" && isScalar(value) && value.source !== "";
  const target = plain ? value : (key ?? value);
  return target?.range?.[0];
}

/**
 * Finds the place of a path of the parsed document in the text: a plain value itself, else its key, else
 * the nearest key above that exists.
 *
 * @returns a function that returns an offset into the text
 */
export function locator({
  document,
  targets,
}: Yaml): (path: readonly PropertyKey[], at: "key" | "value") => number {
  /** The keys of the mappings that were looked at: a mapping may have a mistake in each. */
  const known = new Map<YAMLMap, Pairs>();
  const pairsOf = (map: YAMLMap): Pairs => {
    const pairs = known.get(map) ?? new Map(map.items.map((pair) => [nameOf(pair), pair]));
    known.set(map, pairs);
    return pairs;
  };
  const child = (node: Node | undefined, segment: PropertyKey): Step | undefined => {
    if (isMap(node)) {
      const pair = pairsOf(node).get(String(segment));
      return (
        pair && { key: pair.key as Node, value: (pair.value ?? undefined) as Node | undefined }
      );
    }
    if (isSeq(node) && typeof segment === "number")
      return { key: undefined, value: node.items[segment] as Node | undefined };
    return undefined;
  };
  return (path, at) => {
    let node: Node | undefined = document.contents ?? undefined;
    let offset = 0;
    for (const segment of path) {
      const step = child(isAlias(node) ? targets.get(node) : node, segment);
      if (step === undefined) break;
      node = step.value;
      offset = startOf(step, at) ?? offset;
    }
    return offset;
  };
}

function nameOf({ key }: Pair<unknown, unknown>): string {
  return isScalar(key) ? String(key.value) : "";
}
