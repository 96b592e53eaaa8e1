// Fields that a CRD requires later, on any server: the fake one and a real one answer alike.

import {
  ApiError,
  findError,
  fromCrd,
  type KubeClient,
  type KubeObject,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { crdOf, type Manifest } from "./crd.ts";

interface ThingObject extends KubeObject {
  spec?: { a?: string; b?: string };
  status?: { phase?: string };
}

const TEXT = { type: "string" };

const manifest = (root: object, below: object) =>
  crdOf({
    group: "required.example.org",
    kind: "Latecomer",
    names: { singular: "latecomer" },
    version: { subresources: { status: {} } },
    properties: {
      spec: { type: "object", properties: { a: TEXT, b: TEXT }, ...below },
      status: { type: "object", properties: { phase: TEXT } },
    },
    root,
  });

export const LOOSE: Manifest = manifest({}, {});
const STRICT = manifest({ required: ["spec"] }, { required: ["a"] });
const Thing = fromCrd<ThingObject>(LOOSE);

const ref = (name: string) => ({ namespace: "default", name });

/**
 * Writes to objects that lack what their CRD requires since.
 *
 * @param serve - gives the server another manifest, and waits until `isTaken`
 */
export async function requireLater(
  client: KubeClient,
  serve: (crd: Manifest, isTaken: () => Promise<boolean>) => Promise<unknown>,
): Promise<void> {
  const causesOf = async (work: Promise<unknown>): Promise<unknown> => {
    const error = findError(await work.catch((caught: unknown) => caught), ApiError);
    return error === undefined ? "taken" : error.details["causes"];
  };
  const patch = async (name: string, content: object, subresource?: "status") =>
    await causesOf(
      client.patch(Thing, ref(name), content, subresource === undefined ? {} : { subresource }),
    );
  const missing = (field: string) => ({
    field,
    message: "Required value",
    reason: "FieldValueRequired",
  });
  await client.create(Thing, { metadata: ref("partial"), spec: { b: "1" } });
  await client.create(Thing, { metadata: ref("bare") });
  await serve(STRICT, async () => {
    const created = client.create(Thing, { metadata: ref("new"), spec: {} }, { dryRun: true });
    return (await causesOf(created)) !== "taken";
  });

  const label = { metadata: { labels: { x: "y" } } };
  const status = { status: { phase: "on" } };
  // In the spec it is required once the spec changes.
  expect(await patch("partial", label)).toBe("taken");
  expect(await patch("partial", status, "status")).toBe("taken");
  expect(await patch("partial", { spec: { b: "2" } })).toEqual([missing("spec.a")]);
  expect(await patch("partial", { spec: { a: "1", b: "2" } })).toBe("taken");
  // At the root it is required at each write but that of the status.
  expect(await patch("bare", label)).toEqual([missing("spec")]);
  expect(await patch("bare", status, "status")).toBe("taken");
  expect(await patch("bare", { spec: { b: "2" } })).toEqual([missing("spec.a")]);
  expect(await patch("bare", { spec: { a: "1" } })).toBe("taken");
}
