import {
  fromCrd,
  isApiError,
  type KubeApplyOptions,
  type KubeClient,
  type KubeObject,
  type KubernetesMetrics,
  type Resource,
} from "@holdfast/kubernetes";
import fc from "fast-check";
import { expect } from "vitest";
import { crdOf, type Manifest } from "../../../../test/crd.ts";

const text = { type: "string" };
const object = (properties: object, more: object = {}): object => ({
  type: "object",
  properties,
  ...more,
});
const listOf = (items: object, more: object = {}): object => ({ type: "array", items, ...more });
const atomic = { "x-kubernetes-map-type": "atomic" };
const byName = {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "protocol"],
};
const port = object(
  {
    name: text,
    protocol: { type: "string", default: "TCP" },
    labels: object({}, { additionalProperties: text }),
    selector: object({}, { additionalProperties: text, ...atomic }),
  },
  { required: ["name"] },
);

/** A field of each form that Kubernetes merges in its own way. */
export const manifest: Manifest = crdOf({
  kind: "Thing",
  version: { subresources: { status: {} } },
  properties: {
    spec: object({
      text,
      map: object({}, { additionalProperties: text }),
      struct: object({ a: text, b: text }),
      whole: object({ a: text, b: text }, atomic),
      list: listOf(text),
      set: listOf(text, { "x-kubernetes-list-type": "set" }),
      ports: listOf(port, byName),
      lists: object({}, { additionalProperties: listOf(port, byName) }),
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      wholeAny: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...atomic },
    }),
    status: object({ text }),
  },
});

export const Thing: Resource<KubeObject & { spec?: object; status?: object }> = fromCrd(manifest);

const word = fc.constantFrom("a", "b");
const texts = fc.dictionary(word, word, { maxKeys: 2 });
const words = fc.uniqueArray(word);

const ports = fc.uniqueArray(
  fc.record(
    { name: word, protocol: fc.constantFrom("TCP", "UDP"), labels: texts, selector: texts },
    { requiredKeys: ["name"] },
  ),
  { selector: ({ name, protocol = "TCP" }) => `${name} ${protocol}`, maxLength: 3 },
);
const spec = fc.record(
  {
    text: word,
    map: texts,
    struct: texts,
    whole: texts,
    list: words,
    set: words,
    ports: ports,
    lists: fc.dictionary(word, ports, { maxKeys: 2 }),
    any: fc.dictionary(word, fc.oneof(word, texts, words, fc.dictionary(word, words)), {
      maxKeys: 2,
    }),
  },
  { requiredKeys: [] },
);
const applied = fc.record({ labels: texts, spec }, { requiredKeys: ["spec"] });
interface Named {
  readonly name: string;
  readonly namespace: string;
}

interface Step {
  readonly manager: string;
  readonly how: string;
  readonly applied: { labels?: Record<string, string>; spec: object };
}

const step: fc.Arbitrary<Step> = fc.record({
  manager: fc.constantFrom("holdfast", "other"),
  how: fc.constantFrom("apply", "apply", "apply", "update"),
  applied,
});

/** Metrics that keep which applies were skipped. */
export class Counted {
  skipped: string[] = [];
  readonly metrics: KubernetesMetrics = {
    requested: () => {},
    listed: () => {},
    watchEnded: () => {},
    rejected: () => {},
    applySkipped: (resource) => this.skipped.push(resource),
  };
}

/** Whether there is a list or a map without members: others may own some, so that the server is asked. */
function hasEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const members = Object.values(value);
  return members.length === 0 || members.some(hasEmpty);
}

/** A map that its owner has emptied is null, which the schema may refuse. */
const invalid = (error: unknown): undefined => {
  if (!isApiError(error, "Invalid")) throw error;
};

/** Applies and updates of two managers, with random fields. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 6 });

/** Takes each step twice, with what is stored as `cached`, and compares with the same apply sent. */
export async function takeSteps(
  client: KubeClient,
  { skipped }: Counted,
  { metadata, taken }: { readonly metadata: Named; readonly taken: readonly Step[] },
): Promise<void> {
  for (const { manager, how, applied: given } of taken) {
    const wanted = { metadata: { ...metadata, labels: given.labels }, spec: given.spec };
    if (how === "update" && (await client.find(Thing, metadata)) !== undefined) {
      const change = (one: KubeObject & { spec?: object }) =>
        Object.assign(one, { spec: { ...one.spec, ...given.spec } });
      await client.modify(Thing, metadata, change, { fieldManager: manager }).catch(invalid);
      continue;
    }
    for (let round = 0; round < 2; round++) {
      const cached = await client.find(Thing, metadata);
      const before = skipped.length;
      const apply = (more: KubeApplyOptions) =>
        client.apply(Thing, wanted, { fieldManager: manager, ...more }).catch(invalid);
      const sent = await apply({ cached });
      const isSkipped = skipped.length > before;
      const truth = await apply({});
      // Exact: what was skipped changes nothing.
      if (isSkipped) expect([sent, truth]).toEqual([cached, cached]);
      // Complete: a repetition is skipped.
      if (round === 1 && !hasEmpty(given) && truth !== undefined) expect(isSkipped).toBe(true);
    }
  }
}
