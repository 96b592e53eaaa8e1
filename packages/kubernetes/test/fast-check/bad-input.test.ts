import * as fastCheck from "@holdfast/kubernetes/fast-check";
import { specsOf } from "@holdfast/kubernetes/fast-check";
import * as fc from "fast-check";
import * as kinds from "../../../../test/bad-input.ts";
import { resourceWith } from "./schemas.ts";

const { all, anyObject, data, fields, object, required, text } = kinds;

const Thing = resourceWith({ type: "object", properties: { name: { type: "string" } } });
const isResource = all(anyObject, fields({ kind: text, plural: text }));
const isArbitrary = kinds.methods("generate", "shrink");

const doors = [
  kinds.throws(
    specsOf,
    [Thing, { fields: { name: fc.constant("a") } }],
    ["resource", required(isResource)],
    ["options", object({ fields: data({ name: isArbitrary }) })],
  ),
];

kinds.testBadInput(doors, () => undefined);
const reports = new URL("../../api/", import.meta.url);
kinds.testEveryExport(reports, { "fast-check": fastCheck }, doors, []);
