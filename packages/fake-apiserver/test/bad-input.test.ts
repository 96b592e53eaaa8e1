import { FakeClock } from "@holdfast/clock/testing";
import { Recording } from "@holdfast/controller/recording";
import * as root from "@holdfast/fake-apiserver";
import * as fastCheck from "@holdfast/fake-apiserver/fast-check";
import { builtIn, customResource, type KubeObject } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import * as kinds from "../../../test/bad-input.ts";
import { ofSettings } from "../../../test/explore-settings.ts";
import { FAULTS, HOOK_FAULTS } from "../src/server/faults.ts";
import { asWebhook } from "./as-webhook.ts";
import { resourceWith } from "./fast-check/schemas.ts";

const { all, anyObject, arrayOf, f, fields, methods, refuses, required, text } = kinds;

const clock = new FakeClock();
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const configuration = { type: "validating", name: "a.b.c", rules: [] } as const;
const hook = asWebhook({ configuration, review: f });
const api = new root.FakeApi({ clock, resources: [ConfigMap], webhooks: [hook] });
const spec = { type: "object", properties: { name: { type: "string" } } };
const Thing = resourceWith(spec);
const Versions = customResource({
  ...{ group: "example.org", kind: "Thing", plural: "things", storage: "v1" },
  versions: { v1: { spec }, v2: { spec } },
});

/** Bad options are refused before anything is read. */
const recording = Object.create(Recording.prototype) as Recording;

/** Functions are allowed too. */
function orFunction(kind: kinds.Kind): kinds.Kind {
  return (path, valid) => kind(path, valid).filter(({ value }) => typeof value !== "function");
}

const oneOf = (types: string): kinds.Kind =>
  kinds.data({
    type: required(
      all(text, refuses(`RangeError: PATH must be one of ${types}, got "burn"`, "burn")),
    ),
  });
const generator = methods("generate", "shrink");
const anyResource = all(anyObject, fields({ kind: text, plural: text }));
const isHook = all(anyObject, fields({ configuration: anyObject, review: kinds.func }));
const own = {
  ...ofSettings,
  anyResource,
  resourceList: arrayOf(anyResource),
  array: arrayOf(kinds.unchecked),
  record: anyObject,
  history: refuses('RangeError: PATH must be "kept" or "lost", got GOT', null, 5, "all"),
  webhookList: arrayOf(isHook),
  hookFault: oneOf("down, slow, refuses, status"),
  fault: orFunction(oneOf("status, text, reject, drop, reset, close, stall, line, delay")),
  shards: anyObject,
  backoff: kinds.unchecked,
  recording: refuses(
    "TypeError: PATH must be a Recording of openRecording, got GOT",
    ...[null, 5, "a"],
  ),
  lossyPaths: arrayOf(
    refuses('RangeError: PATH must be a path such as ".spec.note", got "spec.a"', "spec.a"),
  ),
  specsByVersion: kinds.data({ v1: generator }),
  arbitraries: kinds.data({ name: generator }),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, rejects, throws } = await kinds.doorsOf(sources, own);

/** A valid one of each type. */
const faults: readonly root.Fault[] = [
  { type: "status", status: 503 },
  { type: "text", text: "a" },
  ...(["reject", "drop", "reset", "close", "stall"] as const).map((type) => ({ type })),
  { type: "line", text: "a" },
  { type: "delay", delay: 1 },
];

const hookFaults: readonly root.HookFault[] = [
  ...(["down", "slow", "refuses"] as const).map((type) => ({ type })),
  { type: "status", status: 503 },
];

const explored = { setup: f, resources: [ConfigMap], scenario: f, webhooks: [hook] };

const doors = [
  rejects(
    root.explore,
    [{ ...explored, without: ["conflict"], recreates: [ConfigMap], resourcesFrom: [ConfigMap] }],
    "options: EXPLORE_OPTIONS",
  ),
  rejects(root.replay, [recording, { setup: f }], "recording?: recording, options: REPLAY_OPTIONS"),
  rejects(
    root.shadow,
    [recording, { upgradeFrom: f, setup: f, resources: [ConfigMap] }],
    "recording?: recording, options: SHADOW_OPTIONS",
  ),
  constructs(
    root.FakeApi,
    [{ clock, resources: [ConfigMap], webhooks: [hook] }],
    "options: FAKE_API_OPTIONS",
  ),
  method(api, "start", "rejects", [{}], "options?: FAKE_API_START_OPTIONS"),
  method(api, "restore", "throws", [{}], "snapshot: anyObject"),
  method(api, "intercept", "throws", [{ fault: { type: "drop" } }], "rule?: FAULT_RULE"),
  ...faults.map((fault) =>
    method(api, "intercept", "throws", [{ fault }], "rule?: rule", {
      rule: fields({ fault: orFunction(kinds.optionsOf<object>(FAULTS[fault.type], own)) }),
    }),
  ),
  method(api, "intercept", "throws", [{ hook, fault: { type: "down" } }], "rule?: HOOK_FAULT_RULE"),
  ...hookFaults.map((fault) =>
    method(api, "intercept", "throws", [{ hook, fault }], "rule?: rule", {
      rule: fields({ fault: kinds.optionsOf<object>(HOOK_FAULTS[fault.type], own) }),
    }),
  ),
  method(api, "listen", "rejects", [{}], "options?: FAKE_API_LISTEN_OPTIONS"),
  throws(
    fastCheck.specsOf,
    [Thing, { fields: { name: fc.constant("a") } }],
    "resource: anyResource, options?: SPECS_OPTIONS",
  ),
  throws(
    fastCheck.conversionsOf,
    [Versions, { lossy: [".spec.name"] }],
    "resource: anyObject, options?: CONVERSIONS_OPTIONS",
  ),
  rejects(
    fastCheck.explorePaths,
    [{ setup: f, resource: Thing, resources: [Thing], webhooks: [hook] }],
    "options: PATH_OPTIONS",
  ),
];

kinds.testBadInput(doors, () => {
  expect(clock.waiters()).toBe(0);
  expect(api.requests).toEqual([]);
});

const reports = new URL("../api/", import.meta.url);
kinds.testEveryExport(reports, { index: root, "fast-check": fastCheck }, doors, [
  fastCheck.PathError,
]);

it("a fault names a webhook that the server does not have", () => {
  expect(() => api.intercept({ hook: { ...hook }, fault: { type: "down" } })).toThrow(
    new RangeError(
      "rule.hook must be one of options.webhooks of this FakeApi, or a resource that it converts",
    ),
  );
});

it("explore names the list without to who gives it by its old name", async () => {
  const old: object = { setup: f, resources: [ConfigMap], scenario: f, faults: ["conflict"] };
  await expect(root.explore(old as Parameters<typeof root.explore>[0])).rejects.toThrow(
    "options.faults is not an option of explore; did you mean options.without?",
  );
});
