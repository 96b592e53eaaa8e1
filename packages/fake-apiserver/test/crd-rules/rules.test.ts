import { afterEach, expect, it, vi } from "vitest";
import { CEL_RULES } from "../../conformance/cel-rules.ts";
import { ruleCauses } from "../../src/crd-rules/cel/rules.ts";

afterEach(() => void vi.restoreAllMocks());

function schemaOf(...rules: string[]) {
  return {
    type: "object",
    properties: {
      spec: { type: "object", "x-kubernetes-validations": rules.map((rule) => ({ rule })) },
    },
  };
}

const beyond = CEL_RULES.filter(({ name }) => name.startsWith("unevaluated"));

it.each(beyond.map(({ rule }) => rule))("reports %s once, and does not evaluate it", (rule) => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const schema = schemaOf(rule.replace("self ==", "true =="));
  for (let run = 0; run < 2; run++)
    expect([...ruleCauses(schema, { spec: {} }, undefined)]).toEqual([]);
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^FakeApi: the rule ".*" is not evaluated: /), "FakeApiWarning"],
  ]);
});

it("lets an update keep a value that a rule refuses, and refuses another", () => {
  const schema = schemaOf("self.size > 1");
  const properties = { size: { type: "integer" } };
  Object.assign(schema.properties.spec, { properties });
  const causes = (size: number, before: number) => [
    ...ruleCauses(schema, { spec: { size } }, { spec: { size: before } }),
  ];
  expect(causes(1, 1)).toEqual([]);
  expect(causes(0, 1)).toMatchObject([{ field: "spec", reason: "FieldValueInvalid" }]);
});
