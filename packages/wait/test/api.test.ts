import * as wait from "@holdfast/wait";
import { expect, it } from "vitest";

it("exports these names and no others", () => {
  expect(new Set(Object.keys(wait))).toEqual(
    new Set([
      "AttemptBackoff",
      "Backoff",
      "BinaryExponentialBackoff",
      "ConstantBackoff",
      "DecorrelatedJitterBackoff",
      "EqualJitterBackoff",
      "ExcessiveCollisionsError",
      "ExhaustedError",
      "ExponentialBackoffManager",
      "FibonacciBackoff",
      "FullJitterBackoff",
      "GrpcBackoff",
      "Jitter",
      "JitteredBackoffManager",
      "LinearBackoff",
      "SymmetricJitterBackoff",
      "TimeoutError",
      "backoffUntil",
      "expectedSlots",
      "forever",
      "grpcBackoff",
      "isExcessiveCollisionsError",
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
