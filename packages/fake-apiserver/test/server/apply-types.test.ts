import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { crdOf } from "../../../../test/crd.ts";
import { ApiKit } from "./api-kit.ts";

const TEXT = { type: "string" };
const item = { type: "object", required: ["name"], properties: { name: TEXT } };
const sized = {
  type: "object",
  required: ["name", "size"],
  properties: { name: TEXT, size: TEXT, note: TEXT },
};
const keyed = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
const spec = {
  type: "object",
  properties: {
    sized: { type: "array", items: sized, ...keyed },
    n: { type: "integer" },
    date: { ...TEXT, format: "date-time" },
    bytes: { ...TEXT, format: "byte" },
    set: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    list: { type: "array", items: item, ...keyed },
  },
};
const Thing = fromCrd(crdOf({ kind: "Thing", properties: { spec } }));
const THINGS = "/apis/example.org/v1/namespaces/default/things";

function thing(fields: object): object {
  return { apiVersion: "example.org/v1", kind: "Thing", metadata: { name: "a" }, spec: fields };
}

const NULL_KEY = "element 0: associative list with keys may not have a null element";
const NULL_ITEM = "element 0: associative list without keys has an element that's an explicit null";

// As a server answers.
it.each([
  [{ set: ["a", 1] }, ".spec.set[=1]: expected string, got &value.valueUnstructured{Value:1}"],
  [{ set: [null] }, `.spec.set: ${NULL_ITEM}`],
  [{ list: [null] }, `.spec.list: ${NULL_KEY}`],
  [{ bytes: 5 }, ".spec.bytes: expected string, got &value.valueUnstructured{Value:5}"],
  [
    { n: "a", set: ["a", "a", "a"], zz: 1 },
    'errors:\n  .spec.zz: field not declared in schema\n  .spec.n: expected numeric (int or float), got string\n  .spec.set: duplicate entries for key [="a"]\n  .spec.set: duplicate entries for key [="a"]',
  ],
])("an apply of %j is 500 and names each value that does not fit", async (fields, text) => {
  const { status, body } = await new ApiKit({ resources: [Thing] }).send(
    "PATCH",
    `${THINGS}/a?fieldManager=one`,
    { body: thing(fields), headers: { "content-type": "application/apply-patch+yaml" } },
  );
  const start = "failed to create typed patch object (/a; example.org/v1, Kind=Thing): ";
  expect([status, body["message"]]).toEqual([500, `${start}${text}`]);
});

it("an apply of a number for a text in a format is 422", async () => {
  const { status, body } = await new ApiKit({ resources: [Thing] }).send(
    "PATCH",
    `${THINGS}/a?fieldManager=one`,
    { body: thing({ date: 5 }), headers: { "content-type": "application/apply-patch+yaml" } },
  );
  expect([status, body["reason"]]).toEqual([422, "Invalid"]);
});

it("an item of a keyed list that is no object has two causes", async () => {
  const { status, body } = await new ApiKit({ resources: [Thing] }).send("POST", THINGS, {
    body: thing({ list: ["x"] }),
    headers: { "content-type": "application/json" },
  });
  expect([status, (body["details"] as { causes: unknown[] }).causes]).toEqual([
    422,
    expect.arrayContaining([
      {
        reason: "FieldValueInvalid",
        message: 'Invalid value: "x": must be an object for an array of list-type map',
        field: "spec.list[0]",
      },
    ]),
  ]);
});

it("an apply that leaves out an item of which another manager owns a field is 422 if it takes a required one", async () => {
  const kit = new ApiKit({ resources: [Thing] });
  const apply = async (manager: string, fields: object) => {
    const headers = { "content-type": "application/apply-patch+yaml" };
    const path = `${THINGS}/a?fieldManager=${manager}`;
    const { status, body } = await kit.send("PATCH", path, { body: thing(fields), headers });
    return [status, body["spec"] ?? body["message"]];
  };
  const item = { name: "x", size: "1" };
  await apply("one", { n: 1, sized: [item], list: [{ name: "x" }] });
  await apply("two", { sized: [{ name: "x", note: "of two" }] });
  const refusal = [422, 'Thing.example.org "a" is invalid: spec.sized[0].size: Required value'];
  for (const fields of [{ n: 1 }, { n: 1, sized: [] }, { n: 1 }])
    expect(await apply("one", fields)).toEqual(refusal);
  expect(await apply("two", {})).toMatchObject([200, { sized: [item] }]);
  expect(await apply("one", { n: 1 })).toEqual([200, { n: 1 }]);
});
