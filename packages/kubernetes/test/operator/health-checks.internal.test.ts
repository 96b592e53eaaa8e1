import type { ElectionStatus } from "@holdfast/controller";
import type { InformerStatus } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { canElect, isFollowing, isWithinLease } from "../../src/operator/health-checks.ts";

const informer = (hasSynced: boolean, ...silent: (number | undefined)[]): InformerStatus => ({
  resource: "pods",
  size: 0,
  hasSynced,
  reflectors: silent.map((silentFor) => ({ silentFor, isRefused: false })) as never,
});
const MINUTE = 60_000;

describe("readiness", () => {
  it.each<[string, InformerStatus, boolean]>([
    ["has synced and hears its server", informer(true, 15 * MINUTE), true],
    ["has heard nothing for longer than 15 minutes", informer(true, 15 * MINUTE + 1), false],
    ["has never heard anything", informer(true, undefined), false],
    ["has not synced", informer(false, 0), false],
    [
      "may not list",
      { ...informer(true), reflectors: [{ silentFor: 0, isRefused: true }] as never },
      false,
    ],
    ["is silent in one of its namespaces", informer(true, 0, 16 * MINUTE), false],
  ])("of an informer that %s", (_name, status, expected) =>
    expect(isFollowing(status)).toBe(expected),
  );

  it.each([
    [undefined, false],
    [0, true],
    [15_000, true],
    [15_001, false],
  ])("of an elector whose lock answered %s ms ago", (sinceAnswer, expected) =>
    expect(canElect({ sinceAnswer } as ElectionStatus, 15_000)).toBe(expected),
  );
});

describe("liveness", () => {
  it.each([
    [0, true],
    [1, false],
  ])("of work that outlives its lease by %i ms", (overdue, expected) =>
    expect(isWithinLease({ overdue } as ElectionStatus)).toBe(expected),
  );
});
