import { readFileSync } from "node:fs";
import { explorePaths } from "@holdfast/fake-apiserver/fast-check";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, inject, test } from "vitest";
import { parse } from "yaml";
import { ConfigMap, greeter } from "../../src/greeter/greeter.ts";

const crd = new URL("../../src/greeter/deploy/crd.yaml", import.meta.url);
const Greeting = fromCrd(parse(readFileSync(crd, "utf8")));
// Three seeds, and up to 1,000 worlds of two faults at a time, in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const runs = isThorough ? 1_000 : 30;

test.each([inject("simSeed")])(
  "the state does not depend on the path of the specs, seed %i",
  async (seed) => {
    const resources = [ConfigMap];
    const report = await explorePaths({
      setup: greeter,
      resource: Greeting,
      resources,
      runs,
      seed,
    });
    expect(report.paths).toBe(runs);
    expect(report.steps).toBeGreaterThan(runs);
  },
);
