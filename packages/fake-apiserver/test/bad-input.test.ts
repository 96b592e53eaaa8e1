import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/fake-apiserver";
import { explore, FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import * as kinds from "../../../test/bad-input.ts";
import { ofSettings } from "../../../test/explore-settings.ts";
import { EXPLORE_OPTIONS } from "../src/explore/explore-options.ts";

const { all, constructs, except, method, required, text } = kinds;

const clock = new FakeClock();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const api = new FakeApi({ clock, resources: [ConfigMap] });

const isClock = kinds.methods("monotonic", "newTimer", "afterFunc");
const isObject = kinds.anyObject;
const isResource = all(isObject, kinds.fields({ kind: text, plural: text }));

const ofOperators = { ...ofSettings, resources: kinds.arrayOf(isResource), shards: isObject };

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
      },
    ],
    ["options", required(kinds.optionsOf(EXPLORE_OPTIONS, ofOperators))],
  ),
  constructs(
    FakeApi,
    [{ clock, resources: [ConfigMap] }],
    [
      "options",
      required(
        kinds.object({
          clock: required(isClock),
          resources: required(kinds.arrayOf(isResource)),
          random: kinds.func,
          keptRequests: kinds.outside("a whole number of at least 1", 0, 1.5),
        }),
      ),
    ],
  ),
  method(
    api,
    "start",
    "rejects",
    [{}],
    [
      "options",
      kinds.object({
        history: (path) =>
          [null, 5, "all"].map((value) => ({
            path,
            value,
            error: `RangeError: ${path} must be "kept" or "lost", got ${JSON.stringify(value)}`,
          })),
      }),
    ],
  ),
  method(api, "restore", "throws", [{}], ["snapshot", required(isObject)]),
  method(
    api,
    "intercept",
    "throws",
    [{ fault: { type: "drop" } }],
    [
      "rule",
      required(
        kinds.object({
          fault: required(
            orFunction(
              kinds.object({
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
          ),
          verbs: kinds.arrayOf(kinds.unchecked),
          resource: isObject,
          when: kinds.func,
          times: kinds.outside("a whole number of at least 1", 0, 1.5),
        }),
      ),
    ],
  ),
  method(
    api,
    "listen",
    "rejects",
    [{}],
    [
      "options",
      kinds.object({ port: kinds.outside("a number from 0 to 65535", -1, 65_536), token: text }),
    ],
  ),
];

/** Functions are allowed too. */
function orFunction(kind: kinds.Kind): kinds.Kind {
  return (path, valid) => kind(path, valid).filter(({ value }) => typeof value !== "function");
}

kinds.testBadInput(doors, () => {
  expect(clock.waiters()).toBe(0);
  expect(api.requests).toEqual([]);
});

kinds.testEveryExport(new URL("../api/", import.meta.url), { index: root }, doors, []);

it("explore names the list without to who gives it by its old name", async () => {
  const old: object = { setup: f, resources: [ConfigMap], scenario: f, faults: ["conflict"] };
  await expect(explore(old as Parameters<typeof explore>[0])).rejects.toThrow(
    "options.faults is not an option of explore; did you mean options.without?",
  );
});
