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
      "connectWithBackoff",
      "expectedSlots",
      "forever",
      "grpcBackoff",
      "isExcessiveCollisionsError",
      "isExhaustedError",
      "isTimeoutError",
      "jitter",
      "jitterUntil",
      "keepConnected",
      "managerOf",
      "nonSlidingUntil",
      "seededRandom",
      "until",
    ]),
  );
});
