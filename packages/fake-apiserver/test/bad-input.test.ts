import { FakeClock } from "@holdfast/clock/testing";
import { Recording } from "@holdfast/controller/recording";
import * as root from "@holdfast/fake-apiserver";
import {
  explore,
  FakeApi,
  type Fault,
  type HookFault,
  replay,
  shadow,
} from "@holdfast/fake-apiserver";
import type { Kinds } from "@holdfast/kit";
import { builtIn, type KubeObject } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import * as kinds from "../../../test/bad-input.ts";
import { ofSettings } from "../../../test/explore-settings.ts";
import { EXPLORE_OPTIONS } from "../src/explore/explore-options.ts";
import { REPLAY_OPTIONS } from "../src/recording/replay.ts";
import { SHADOW_OPTIONS } from "../src/recording/shadow.ts";
import {
  FAKE_API_LISTEN_OPTIONS,
  FAKE_API_OPTIONS,
  FAKE_API_START_OPTIONS,
} from "../src/server/fake-api.ts";
import { FAULT_RULE, FAULTS, HOOK_FAULT_RULE, HOOK_FAULTS } from "../src/server/faults.ts";
import { asWebhook } from "./as-webhook.ts";

const { all, constructs, except, method, required, text } = kinds;

const clock = new FakeClock();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const hook = asWebhook({
  configuration: { type: "validating", name: "a.b.c", rules: [] },
  review: f,
});
const api = new FakeApi({ clock, resources: [ConfigMap], webhooks: [hook] });

/** Bad options are refused before anything is read. */
const recording = Object.create(Recording.prototype) as Recording;

const isObject = kinds.anyObject;
const isResource = all(isObject, kinds.fields({ kind: text, plural: text }));

const isHook = all(isObject, kinds.fields({ configuration: isObject, review: kinds.func }));
const ofOperators = {
  ...ofSettings,
  resourceList: kinds.arrayOf(isResource),
  webhookList: kinds.arrayOf(isHook),
  shards: isObject,
};
/** Functions are allowed too. */
function orFunction(kind: kinds.Kind): kinds.Kind {
  return (path, valid) => kind(path, valid).filter(({ value }) => typeof value !== "function");
}

const own = {
  resourceList: kinds.arrayOf(isResource),
  array: kinds.arrayOf(kinds.unchecked),
  record: isObject,
  delay: kinds.delay,
  history: (path: string) =>
    [null, 5, "all"].map((value) => ({
      path,
      value,
      error: `RangeError: ${path} must be "kept" or "lost", got ${JSON.stringify(value)}`,
    })),
  webhookList: kinds.arrayOf(isHook),
  hookFault: kinds.data({
    type: required(
      all(
        text,
        except(
          "burn",
          'RangeError: rule.fault.type must be one of down, slow, refuses, status, got "burn"',
        ),
      ),
    ),
  }),
  fault: orFunction(
    kinds.data({
      type: required(
        all(
          text,
          except(
            "burn",
            'RangeError: rule.fault.type must be one of status, text, reject, drop, reset, close, stall, line, delay, got "burn"',
          ),
        ),
      ),
    }),
  ),
};
const options = <Type extends object>(table: Kinds<Type>): kinds.Kind =>
  kinds.optionsOf(table, own);

const isRecording: kinds.Kind = (path) =>
  [null, 5, "a"].map((value) => ({
    path,
    value,
    error: `TypeError: ${path} must be a Recording of openRecording, got ${JSON.stringify(value)}`,
  }));

/** A valid one of each type. */
const faults: readonly Fault[] = [
  { type: "status", status: 503 },
  { type: "text", text: "a" },
  ...(["reject", "drop", "reset", "close", "stall"] as const).map((type) => ({ type })),
  { type: "line", text: "a" },
  { type: "delay", delay: 1 },
];

const hookFaults: readonly HookFault[] = [
  { type: "down" },
  { type: "slow" },
  { type: "refuses" },
  { type: "status", status: 503 },
];

const doors = [
  kinds.rejects(
    explore,
    [
      {
        setup: f,
        resources: [ConfigMap],
        scenario: f,
        without: ["conflict"],
        recreates: [ConfigMap],
        resourcesFrom: [ConfigMap],
        webhooks: [hook],
      },
    ],
    ["options", required(kinds.optionsOf(EXPLORE_OPTIONS, ofOperators))],
  ),
  kinds.rejects(
    replay,
    [recording, { setup: f }],
    ["recording", isRecording],
    ["options", required(kinds.optionsOf(REPLAY_OPTIONS, { backoff: kinds.unchecked }))],
  ),
  kinds.rejects(
    shadow,
    [recording, { upgradeFrom: f, setup: f, resources: [ConfigMap] }],
    ["recording", isRecording],
    ["options", required(kinds.optionsOf(SHADOW_OPTIONS, own))],
  ),
  constructs(
    FakeApi,
    [{ clock, resources: [ConfigMap], webhooks: [hook] }],
    ["options", required(options(FAKE_API_OPTIONS))],
  ),
  method(api, "start", "rejects", [{}], ["options", options(FAKE_API_START_OPTIONS)]),
  method(api, "restore", "throws", [{}], ["snapshot", required(isObject)]),
  method(api, "intercept", "throws", [{ fault: { type: "drop" } }], ["rule", options(FAULT_RULE)]),
  ...faults.map((fault) =>
    method(
      api,
      "intercept",
      "throws",
      [{ fault }],
      ["rule", kinds.fields({ fault: orFunction(options<object>(FAULTS[fault.type])) })],
    ),
  ),
  method(
    api,
    "intercept",
    "throws",
    [{ hook, fault: { type: "down" } }],
    ["rule", options(HOOK_FAULT_RULE)],
  ),
  ...hookFaults.map((fault) =>
    method(
      api,
      "intercept",
      "throws",
      [{ hook, fault }],
      ["rule", kinds.fields({ fault: options<object>(HOOK_FAULTS[fault.type]) })],
    ),
  ),
  method(api, "listen", "rejects", [{}], ["options", options(FAKE_API_LISTEN_OPTIONS)]),
];

kinds.testBadInput(doors, () => {
  expect(clock.waiters()).toBe(0);
  expect(api.requests).toEqual([]);
});

kinds.testEveryExport(new URL("../api/", import.meta.url), { index: root }, doors, []);

it("a fault names a webhook that the server does not have", () => {
  expect(() => api.intercept({ hook: { ...hook }, fault: { type: "down" } })).toThrow(
    new RangeError(
      "rule.hook must be one of options.webhooks of this FakeApi, or a resource that it converts",
    ),
  );
});

it("explore names the list without to who gives it by its old name", async () => {
  const old: object = { setup: f, resources: [ConfigMap], scenario: f, faults: ["conflict"] };
  await expect(explore(old as Parameters<typeof explore>[0])).rejects.toThrow(
    "options.faults is not an option of explore; did you mean options.without?",
  );
});
