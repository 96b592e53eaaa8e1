import {
  type AdmissionRequest,
  builtIn,
  customResource,
  type KubeObject,
  mutating,
  validating,
  type Webhook,
} from "@holdfast/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { difference } from "../../src/webhook/difference.ts";
import { quietLogger } from "../secrets.ts";

const CronTask = customResource({
  apiVersion: "batch.example.org/v1",
  kind: "CronTask",
  plural: "crontasks",
  spec: z.object({ schedule: z.string().min(1), size: z.int().max(9).optional() }),
});
const Pod = builtIn<KubeObject>("v1", "Pod");
const ConfigMap = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "ConfigMap");

const { signal } = new AbortController();
const task = (spec: unknown = { schedule: "* * * * *" }, metadata: object = { name: "ann" }) => ({
  apiVersion: "batch.example.org/v1",
  kind: "CronTask",
  metadata,
  spec,
});
const create = (object: object | null = task()): AdmissionRequest => ({
  uid: "1",
  operation: "CREATE",
  namespace: "default",
  object,
  oldObject: null,
});

const answer = async (hook: Webhook, request: AdmissionRequest = create()) => {
  const logger = quietLogger();
  const { patch, ...rest } = await hook.review(request, { signal, context: { logger } });
  const operations: unknown =
    patch === undefined ? undefined : JSON.parse(Buffer.from(patch, "base64").toString());
  return { ...rest, ...(patch !== undefined && { operations }), lines: logger.lines };
};

describe("a webhook as a value", () => {
  it("has the entry of its configuration, with every default", () => {
    const { configuration } = validating(CronTask, { handle() {} });
    expect(configuration).toEqual({
      type: "validating",
      name: "validate.crontasks.batch.example.org",
      rules: [
        {
          apiGroups: ["batch.example.org"],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["crontasks"],
          scope: "Namespaced",
        },
      ],
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      sideEffects: "None",
      timeoutSeconds: 5,
      matchConditions: [
        {
          name: "spec",
          expression:
            "request.operation != 'UPDATE' || (!has(oldObject.metadata.deletionTimestamp) && object.?spec != oldObject.?spec)",
        },
      ],
    });
  });

  it("has the options in the words of Kubernetes", () => {
    const { configuration } = mutating(ConfigMap, {
      name: "fill",
      operations: ["CREATE"],
      failurePolicy: "Ignore",
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 2,
      reinvocation: "IfNeeded",
      objectSelector: { app: ["a", "b"], old: false },
      namespaceSelector: { env: { not: "test" } },
      conditions: { "is-named": "has(object.metadata.name)" },
      handle() {},
    });
    expect(configuration).toMatchObject({
      type: "mutating",
      name: "fill.configmaps.core",
      failurePolicy: "Ignore",
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 2,
      reinvocationPolicy: "IfNeeded",
      objectSelector: {
        matchExpressions: [
          { key: "app", operator: "In", values: ["a", "b"] },
          { key: "old", operator: "DoesNotExist" },
        ],
      },
      namespaceSelector: {
        matchExpressions: [{ key: "env", operator: "NotIn", values: ["test"] }],
      },
      matchConditions: [{ name: "is-named", expression: "has(object.metadata.name)" }],
    });
  });

  it("leaves out kube-system for kinds of others, and asks about every update of them", () => {
    const { namespaceSelector, matchConditions } = validating(ConfigMap, {
      handle() {},
    }).configuration;
    expect([namespaceSelector, matchConditions]).toEqual([
      {
        matchExpressions: [
          { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] },
        ],
      },
      undefined,
    ]);
  });

  it.each([
    [
      "Fail on pods",
      () => validating(Pod, { handle() {} }),
      "options.namespaceSelector must be set",
    ],
    [
      "Fail on nodes",
      () => mutating(builtIn<KubeObject>("v1", "Node"), { handle() {} }),
      "options.objectSelector must be set",
    ],
    [
      "Fail on leases",
      () => validating(builtIn<KubeObject>("coordination.k8s.io/v1", "Lease"), { handle() {} }),
      "options.namespaceSelector must be set",
    ],
    [
      "spec beside a subresource",
      () => validating(CronTask, { when: "spec", subresources: ["status"], handle() {} }),
      'options.when must be "always" with options.subresources',
    ],
    [
      "half a second",
      () => validating(CronTask, { timeoutSeconds: 1.5, handle() {} }),
      "options.timeoutSeconds must be a whole number of seconds, got 1.5",
    ],
  ])("refuses %s", (_, make, text) => {
    expect(make).toThrow(RangeError);
    expect(make).toThrow(text);
  });

  it("takes Fail on pods of named namespaces, and Ignore", () => {
    const namespaceSelector = { team: "a" };
    validating(Pod, { namespaceSelector, handle() {} });
    validating(Pod, { failurePolicy: "Ignore", handle() {} });
  });

  it("needs either handle or setup", () => {
    expect(() => validating(CronTask, {})).toThrow(
      "options must have handle or setup, got neither",
    );
    const both = { handle: () => [], setup: () => () => [] };
    expect(() => validating(CronTask, both)).toThrow("options must have handle or setup, got both");
  });

  it("calls setup once for a context", async () => {
    let calls = 0;
    const hook = validating(CronTask, {
      setup: () => {
        calls++;
        return () => [];
      },
    });
    const context = {};
    for (let n = 0; n < 3; n++) await hook.review(create(), { signal, context });
    expect(calls).toBe(1);
  });
});

describe("validating", () => {
  it("tells the causes in the words of the API server", async () => {
    const hook = validating(CronTask, {
      handle: () => [
        { field: "spec.schedule", message: "must have five fields" },
        { field: "spec.size", message: "with a schedule", reason: "FieldValueRequired" },
      ],
    });
    const causes = [
      {
        reason: "FieldValueInvalid",
        message: "Invalid value: must have five fields",
        field: "spec.schedule",
      },
      {
        reason: "FieldValueRequired",
        message: "Required value: with a schedule",
        field: "spec.size",
      },
    ];
    expect(await answer(hook)).toEqual({
      uid: "1",
      allowed: false,
      status: {
        status: "Failure",
        code: 422,
        reason: "Invalid",
        message:
          'CronTask.batch.example.org "ann" is invalid: [spec.schedule: Invalid value: must have five fields, spec.size: Required value: with a schedule]',
        details: { name: "ann", group: "batch.example.org", kind: "CronTask", causes },
      },
      lines: [],
    });
  });

  it("gives the facts of the request to a handler that takes them apart", async () => {
    const seen: unknown[] = [];
    const hook = validating(CronTask, {
      operations: ["DELETE"],
      handle({
        object,
        old,
        operation,
        name,
        namespace,
        subresource,
        dryRun,
        user,
        warn,
        signal: s,
      }) {
        seen.push(
          object.metadata.name,
          old?.metadata.name,
          operation,
          name,
          namespace,
          subresource,
        );
        seen.push(dryRun, user.username, s === signal);
        warn(`a\u0000\nb${"c".repeat(300)}`);
      },
    });
    const request: AdmissionRequest = {
      ...{ uid: "1", operation: "DELETE", namespace: "default", dryRun: true },
      ...{ object: null, oldObject: task(), userInfo: { username: "eve" } },
    };
    expect(await answer(hook, request)).toMatchObject({
      allowed: true,
      warnings: [`a b${"c".repeat(253)}`],
    });
    expect(seen).toEqual([
      ...["ann", "ann", "DELETE", "ann", "default", undefined],
      ...[true, "eve", true],
    ]);
  });

  it("answers 500 without the text of an error, which it logs with uid, kind and name", async () => {
    const hook = validating(CronTask, {
      handle() {
        throw new Error("the inner text");
      },
    });
    const { lines, ...response } = await answer(hook);
    expect(response).toEqual({
      uid: "1",
      allowed: false,
      status: { status: "Failure", code: 500, reason: "InternalError", message: "webhook failed" },
    });
    expect(lines.length).toBe(1);
    const line = lines[0]?.replace(/\s+/g, " ");
    expect(line).toContain("uid: '1', kind: 'CronTask', namespace: 'default', name: 'ann'");
    expect(line).toContain("the inner text");
  });

  it.each([
    ["a number", () => 5],
    ["causes without a message", () => [{}]],
    ["an unknown reason", () => [{ message: "a", reason: "toString" }]],
  ])("answers 500 to a handler that returns %s", async (_, handle) => {
    const response = await answer(validating(CronTask, { handle: handle as never }));
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it("is silent about an update of an object that is being deleted, unless it asks about all", async () => {
    const old = task(undefined, { name: "ann", deletionTimestamp: "2026-01-01T00:00:00Z" });
    const request = { ...create(), operation: "UPDATE", oldObject: old };
    const handle = () => [{ message: "no" }];
    const allowed = [{}, { when: "always" as const }].map(
      async (options) =>
        (await answer(validating(CronTask, { ...options, handle }), request)).allowed,
    );
    expect(await Promise.all(allowed)).toEqual([true, false]);
  });
});

describe("mutating", () => {
  it("patches what the handler has changed, and leaves unknown fields", async () => {
    const hook = mutating(CronTask, {
      handle({ object }) {
        object.spec.size ??= 1;
        object.metadata.labels = { ...object.metadata.labels, "a/b~c": "1" };
        return 5; // of an arrow function
      },
    });
    const object = task(
      { schedule: "a", unknown: { deep: true } },
      { name: "ann", labels: { x: "y" } },
    );
    expect((await answer(hook, create(object))).operations).toEqual([
      { op: "add", path: "/metadata/labels/a~1b~0c", value: "1" },
      { op: "add", path: "/spec/size", value: 1 },
    ]);
  });

  it("sees a new object without a name", async () => {
    const names: string[] = [];
    const hook = mutating(CronTask, { handle: ({ name }) => names.push(name) });
    await answer(hook, create(task(undefined, { generateName: "ann-" })));
    expect(names).toEqual([""]);
  });

  it("allows an object for which it throws, if the schema refuses it", async () => {
    const hook = mutating(CronTask, {
      handle({ object }) {
        if (object.spec.schedule.split(" ").length !== 5) throw new Error("of the handler");
      },
    });
    const objects = [
      task("text"),
      task(null),
      task({}),
      task({ schedule: 5 }),
      task({ schedule: "" }),
      task({ schedule: "a", size: 10 }),
      task({ schedule: "a", size: 1.5 }),
      { kind: "CronTask", metadata: { name: "ann" } },
    ];
    for (const object of objects)
      expect(await answer(hook, create(object))).toMatchObject({ allowed: true });
    const right = await answer(hook, create(task({ schedule: "a", size: 9 })));
    expect(right).toMatchObject({ allowed: false, status: { code: 500 } });
  });

  it.each([
    ["apiVersion", { apiVersion: "v2" }],
    ["kind", { kind: "Other" }],
    ["metadata.name", { metadata: { name: "bob" } }],
    ["metadata.namespace", { metadata: { name: "ann", namespace: "b" } }],
    ["metadata.uid", { metadata: { name: "ann", uid: "5" } }],
    ["metadata.resourceVersion", { metadata: { name: "ann", resourceVersion: "5" } }],
    ["metadata.managedFields", { metadata: { name: "ann", managedFields: [] } }],
    ["metadata.name", { metadata: null }],
  ])("refuses a handler that changes %s", async (path, change) => {
    const hook = mutating(CronTask, { handle: ({ object }) => Object.assign(object, change) });
    const { status, lines } = await answer(hook);
    expect(status).toMatchObject({ code: 500, message: "webhook failed" });
    expect(lines[0]).toContain(`handle must not change ${path} of the object`);
  });

  it("says with the patch how one value becomes another", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        const start = JSON.parse(JSON.stringify({ value: from })) as object;
        const patch = difference({ value: from }, { value: to });
        const sent = JSON.parse(JSON.stringify(patch)) as typeof patch;
        expect(patched(start, sent)).toEqual(JSON.parse(JSON.stringify({ value: to })));
      }),
    );
  });
});

/** Applies a patch, by the words of RFC 6902 for `add`, `remove` and `replace`. */
function patched(root: object, operations: readonly { op: string; path: string }[]): object {
  for (const operation of operations) {
    const keys = operation.path.split("/").slice(1);
    const names = keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = names.pop() as string;
    const parent = names.reduce((at, name) => (at as Record<string, object>)[name] as object, root);
    if (operation.op === "remove") Reflect.deleteProperty(parent, last);
    else
      Object.defineProperty(parent, last, {
        value: (operation as { value?: unknown }).value,
        ...{ enumerable: true, configurable: true, writable: true },
      });
  }
  return root;
}

describe("a request that is none", () => {
  it.each([null, 5, {}, { uid: "1" }, { uid: "1", operation: "CREATE", object: 5 }])(
    "is a TypeError: %j",
    async (request) => {
      const hook = validating(CronTask, { handle() {} });
      await expect(hook.review(request as never, { signal })).rejects.toThrow(TypeError);
    },
  );

  it("of random content is a TypeError, or has an answer", async () => {
    const hooks = [
      validating(CronTask, { handle: ({ object }) => void object.spec.schedule.length }),
    ];
    hooks.push(
      mutating(CronTask, { handle: ({ object }) => Object.assign(object.spec, { size: 1 }) }),
    );
    const content = fc.record(
      {
        uid: fc.constant("1"),
        operation: fc.constantFrom("CREATE", "UPDATE", "DELETE"),
        name: fc.jsonValue(),
        object: fc.option(fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue() }, {})),
        oldObject: fc.jsonValue(),
        userInfo: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(content, async (request) => {
        for (const hook of hooks) {
          const result = await hook.review(request as never, { signal }).catch((e: unknown) => e);
          if (result instanceof TypeError) expect(result.message).toMatch(/^request must/);
          else expect(result).toMatchObject({ uid: "1", allowed: expect.any(Boolean) as boolean });
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
