import * as fastCheck from "@holdfast/fake-apiserver/fast-check";
import {
  conversionsOf,
  explorePaths,
  PathError,
  specsOf,
} from "@holdfast/fake-apiserver/fast-check";
import type { Kinds } from "@holdfast/kit";
import { customResource } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import * as kinds from "../../../../test/bad-input.ts";
import { CONVERSIONS_OPTIONS } from "../../src/fast-check/conversions-of.ts";
import { PATH_OPTIONS } from "../../src/fast-check/explore-paths.ts";
import { SPECS_OPTIONS } from "../../src/fast-check/specs-of.ts";
import { asWebhook } from "../as-webhook.ts";
import { resourceWith } from "./schemas.ts";

const { all, anyObject, arrayOf, data, fields, methods, required, text } = kinds;

const Thing = resourceWith({ type: "object", properties: { name: { type: "string" } } });
const spec = { type: "object", properties: { name: { type: "string" } } };
const Versions = customResource({
  ...{ group: "example.org", kind: "Thing", plural: "things", storage: "v1" },
  versions: { v1: { spec }, v2: { spec } },
});
const isResource = all(anyObject, fields({ kind: text, plural: text }));
const options = <Type extends object>(table: Kinds<Type>): kinds.Kind =>
  kinds.optionsOf(table, {
    anyResource: isResource,
    resourceList: arrayOf(isResource),
    webhookList: arrayOf(all(anyObject, fields({ configuration: anyObject, review: kinds.func }))),
    lossyPaths: all(
      arrayOf((path) => [
        {
          path,
          value: "spec.a",
          error: `RangeError: ${path} must be a path such as ".spec.note", got "spec.a"`,
        },
      ]),
    ),
    specsByVersion: data({ v1: methods("generate", "shrink") }),
    arbitraries: data({ name: methods("generate", "shrink") }),
  });

const setup = (): never => {
  throw new Error("a call with bad options must not get this far");
};
const hook = asWebhook({
  configuration: { type: "validating", name: "a.b.c", rules: [] },
  review: setup,
});

const doors = [
  kinds.throws(
    specsOf,
    [Thing, { fields: { name: fc.constant("a") } }],
    ["resource", required(isResource)],
    ["options", options(SPECS_OPTIONS)],
  ),
  kinds.throws(
    conversionsOf,
    [Versions, { lossy: [".spec.name"] }],
    ["resource", required(anyObject)],
    ["options", options(CONVERSIONS_OPTIONS)],
  ),
  kinds.rejects(
    explorePaths,
    [{ setup, resource: Thing, resources: [Thing], webhooks: [hook] }],
    ["options", required(options(PATH_OPTIONS))],
  ),
];

kinds.testBadInput(doors, () => undefined);
const reports = new URL("../../api/", import.meta.url);
kinds.testEveryExport(reports, { "fast-check": fastCheck }, doors, [PathError]);
