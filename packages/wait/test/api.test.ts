import * as wait from "@holdfast/wait";
import { expect, it } from "vitest";

it("exports these names and no others", () => {
  expect(new Set(Object.keys(wait))).toEqual(
    new Set([
      "Backoff",
      "BinaryExponentialBackoff",
      "DecorrelatedJitterBackoff",
      "EqualJitterBackoff",
      "ExcessiveCollisionsError",
      "ExhaustedError",
      "ExponentialBackoffManager",
      "FullJitterBackoff",
      "GrpcBackoff",
      "Jitter",
      "JitteredBackoffManager",
      "SymmetricJitterBackoff",
      "TimeoutError",
      "backoffUntil",
      "expectedSlots",
      "every",
      "forever",
      "grpcBackoff",
      "isExcessiveCollisionsError",
      "isExhaustedError",
      "isPermanentError",
      "isTimeoutError",
      "jitter",
      "jitterUntil",
      "managerOf",
      "nonSlidingUntil",
      "permanent",
      "poll",
      "retry",
      "retryAfter",
      "seededRandom",
      "until",
    ]),
  );
});
