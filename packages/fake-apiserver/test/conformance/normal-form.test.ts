import { describe, expect, test } from "vitest";
import { normalForm } from "../../conformance/normal-form.ts";
import { type Answer, namespaceOf, type Script } from "../../conformance/script.ts";

const script: Script = { name: "a script", steps: [] };

/** Normal forms of the bodies. */
function bodies(values: unknown[], given: Partial<Script> = {}): unknown[] {
  const answers = values.map((body): Answer => ({ status: 200, body }));
  const form = normalForm({ ...script, ...given }, answers) as { body: unknown }[];
  return form.map(({ body }) => body);
}

function versions(...values: string[]): object[] {
  return values.map((resourceVersion) => ({ metadata: { resourceVersion } }));
}

describe("normalForm", () => {
  test("numbers versions by size, so that equal and greater ones stay so", () => {
    expect(bodies(versions("1000", "999", "1000", "9007199254740993", "9007199254740992"))).toEqual(
      versions("version 2", "version 1", "version 2", "version 4", "version 3"),
    );
  });

  test("leaves versions that are not numbers as they are", () => {
    expect(bodies(versions("", "0", "abc"))).toEqual(versions("", "0", "abc"));
  });

  test("numbers uids by their first appearance", () => {
    const uids = (...values: string[]) => values.map((uid) => ({ metadata: { uid } }));
    expect(bodies(uids("z", "a", "z"))).toEqual(uids("uid 1", "uid 2", "uid 1"));
    expect(
      bodies([{ metadata: { uid: "z" } }, { metadata: { ownerReferences: [{ uid: "z" }] } }]),
    ).toEqual([
      { metadata: { uid: "uid 1" } },
      { metadata: { ownerReferences: [{ uid: "uid 1" }] } },
    ]);
  });

  test.each([
    [
      "a time of the server",
      { creationTimestamp: "2026-01-01T00:00:00Z" },
      { creationTimestamp: "(time)" },
    ],
    ["no time", { creationTimestamp: null }, { creationTimestamp: null }],
    [
      "a time in a spec",
      { renewTime: "2026-01-01T00:00:00Z" },
      { renewTime: "2026-01-01T00:00:00Z" },
    ],
    ["a token", { continue: "abc" }, { continue: "(token)" }],
    ["no token", { continue: "" }, { continue: "" }],
    [
      "a generated name",
      { generateName: "x-", name: "x-7" },
      { generateName: "x-", name: "x-(random)" },
    ],
    ["a name", { name: "x-7" }, { name: "x-7" }],
    ["the namespace", { namespace: "s-a-script" }, { namespace: "(namespace)" }],
    ["a name made of the namespace", { name: "s-a-script-1" }, { name: "(namespace)-1" }],
    ["managed fields", { managedFields: [{ manager: "x" }] }, {}],
  ])("writes %s", (_, metadata, normal) => {
    expect(bodies([{ metadata }])).toEqual([{ metadata: normal }]);
  });

  test("keeps managed fields without their times, in an order of their own", () => {
    const managedFields = [
      { manager: "two", time: "2026-01-01T00:00:00Z", fieldsV1: { "f:b": {}, "f:a": {} } },
      { manager: "one", time: "2026-01-02T00:00:00Z" },
    ];
    const [body] = bodies([{ metadata: { managedFields } }], { managers: true });
    expect(JSON.stringify(body)).toBe(
      '{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:b":{}},"manager":"two"},{"manager":"one"}]}}',
    );
  });

  test("keeps reason and causes of a status, as often as the server names them, without texts", () => {
    const causes = [
      { field: "spec.size", reason: "FieldValueInvalid", message: "too small" },
      { field: "spec.color", reason: "FieldValueInvalid", message: "pink" },
      { field: "spec.size", reason: "FieldValueInvalid", message: "too large" },
    ];
    const details = { name: "a", uid: "z", causes };
    const status = { apiVersion: "v1", kind: "Status", metadata: {}, message: "no", code: 422 };
    expect(bodies([{ ...status, reason: "Invalid", details }])).toEqual([
      {
        apiVersion: "v1",
        kind: "Status",
        code: 422,
        reason: "Invalid",
        details: {
          name: "a",
          uid: "uid 1",
          causes: [
            { field: "spec.color", reason: "FieldValueInvalid" },
            { field: "spec.size", reason: "FieldValueInvalid" },
            { field: "spec.size", reason: "FieldValueInvalid" },
          ],
        },
      },
    ]);
  });

  test("keeps messages where a script compares them, without errors of CEL and names of authorizers", () => {
    const status = { apiVersion: "v1", kind: "Status", metadata: {}, code: 403 };
    const messages = [
      "a is forbidden: no role grants it",
      'Invalid value: "string": no such key: b evaluating rule: self.b',
    ];
    const answers = messages.map((message) => ({ status: 403, body: { ...status, message } }));
    const script = { name: "messages", steps: [], messages: true };
    const form = normalForm(script, answers) as { body: { message: string } }[];
    expect(form.map(({ body }) => body.message)).toEqual([
      "a is forbidden",
      'Invalid value: "string": (error) evaluating rule: self.b',
    ]);
  });

  test("keeps the resources of discovery that scripts use", () => {
    const named = (...names: string[]) => names.map((name) => ({ name }));
    expect(
      bodies([
        {
          kind: "APIResourceList",
          groupVersion: "v1",
          resources: named("services", "pods/status", "configmaps", "pods"),
        },
        { kind: "APIGroupList", groups: named("autoscaling", "events.k8s.io", "apps") },
      ]),
    ).toEqual([
      {
        kind: "APIResourceList",
        groupVersion: "v1",
        resources: named("configmaps", "pods", "pods/status"),
      },
      { kind: "APIGroupList", groups: named("apps", "events.k8s.io") },
    ]);
  });

  test("omits fields compared on no server, and keeps those that only the double lacks", () => {
    const uncompared = [
      { path: "*.body.age", reason: "it passes" },
      { path: "*.body.items.*.age", reason: "it passes" },
      { path: "*.body.size", reason: "unknown there", on: "fake" as const },
    ];
    expect(bodies([{ age: 1, size: 2, items: [{ age: 3, name: "x" }] }], { uncompared })).toEqual([
      { size: 2, items: [{ name: "x" }] },
    ]);
  });

  test("names namespaces after scripts, in the letters that the server allows", () => {
    expect(namespaceOf({ name: "A list: 410 (Gone)!", steps: [] })).toBe("s-a-list-410-gone");
    const long = namespaceOf({ name: "word ".repeat(30), steps: [] });
    expect(long).toMatch(/^[a-z-]{50,60}[a-z]$/);
  });
});
