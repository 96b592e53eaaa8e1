import * as wait from "@holdfast/wait";
import { expect, it } from "vitest";

it("exports these names and no others", () => {
  expect(new Set(Object.keys(wait))).toEqual(
    new Set([
      "Backoff",
      "ExhaustedError",
      "ExponentialBackoffManager",
      "Jitter",
      "JitteredBackoffManager",
      "TimeoutError",
      "backoffUntil",
      "forever",
      "isExhaustedError",
      "isTimeoutError",
      "jitter",
      "jitterUntil",
      "managerOf",
      "nonSlidingUntil",
      "seededRandom",
      "until",
    ]),
  );
});
