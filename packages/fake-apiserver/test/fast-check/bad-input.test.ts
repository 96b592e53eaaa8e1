import * as fastCheck from "@holdfast/fake-apiserver/fast-check";
import { explorePaths, PathError, specsOf } from "@holdfast/fake-apiserver/fast-check";
import * as fc from "fast-check";
import * as kinds from "../../../../test/bad-input.ts";
import { resourceWith } from "./schemas.ts";

const { all, anyObject, data, fields, object, required, text } = kinds;

const Thing = resourceWith({ type: "object", properties: { name: { type: "string" } } });
const isResource = all(anyObject, fields({ kind: text, plural: text }));
const isArbitrary = kinds.methods("generate", "shrink");

const setup = (): never => {
  throw new Error("a call with bad options must not get this far");
};

const doors = [
  kinds.throws(
    specsOf,
    [Thing, { fields: { name: fc.constant("a") } }],
    ["resource", required(isResource)],
    ["options", object({ fields: data({ name: isArbitrary }) })],
  ),
  kinds.rejects(
    explorePaths,
    [{ setup, resource: Thing, resources: [Thing] }],
    [
      "options",
      required(
        object({
          setup: required(kinds.func),
          resource: required(isResource),
          resources: kinds.arrayOf(isResource),
          specs: isArbitrary,
          invalid: isArbitrary,
          prepare: kinds.func,
          normalise: kinds.func,
          quiet: kinds.positive,
          maxLength: kinds.whole(1),
          runs: kinds.whole(1),
          seed: kinds.whole(0),
          path: text,
        }),
      ),
    ],
  ),
];

kinds.testBadInput(doors, () => undefined);
const reports = new URL("../../api/", import.meta.url);
kinds.testEveryExport(reports, { "fast-check": fastCheck }, doors, [PathError]);
