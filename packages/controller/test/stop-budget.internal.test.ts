import { describe, expect, it } from "vitest";
import { resolveController } from "../src/controller/controller-options.ts";
import { resolveManager } from "../src/manager/manager-options.ts";
import { stopTimeoutOf } from "../src/manager/stop-timeout-of.ts";
import { ABORT_GRACE, GRACE, RELEASE_TIMEOUT, STOP_TIMEOUT } from "../src/stop-budget.ts";

/** Time that Kubernetes grants between SIGTERM and SIGKILL by default, in milliseconds. */
const GRANTED = 30_000;

describe("the default times of a stop", () => {
  it("are those of the options", () => {
    const { grace, abortGrace } = resolveController({ name: "a", reconcile: () => {} });
    expect([grace, abortGrace]).toEqual([GRACE, ABORT_GRACE]);
    expect(resolveManager({}).stopTimeout).toBe(STOP_TIMEOUT);
  });

  it("add up: a controller plus the release of its lease fits into a manager, and into a platform", () => {
    expect(GRACE + ABORT_GRACE + RELEASE_TIMEOUT).toBeLessThan(STOP_TIMEOUT);
    expect(STOP_TIMEOUT).toBeLessThan(GRANTED);
  });
});

it("gives every group all the time it wants where the total has no end", () => {
  const total = Number.POSITIVE_INFINITY;
  const none = { fixed: undefined, wish: undefined };
  expect(stopTimeoutOf({ total, elapsed: 5, own: none, later: [none] })).toBe(total);
  expect(stopTimeoutOf({ total, elapsed: 5, own: { ...none, wish: 7 }, later: [none] })).toBe(7);
});
