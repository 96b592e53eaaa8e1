import * as root from "@holdfast/wait";
import * as go from "@holdfast/wait/go";
import * as rxjs from "@holdfast/wait/rxjs";
import * as strategies from "@holdfast/wait/strategies";
import { expect, it } from "vitest";

const names = (list: string) => list.trim().split(/\s+/).sort();

it("exports these values from the root and no others", () => {
  const expected = `
    retry poll every withTimeout backoffUntil backoffManager ExponentialBackoffManager
    JitteredBackoffManager Backoff jitter Jitter connectWithBackoff keepConnected
    TerminalError isTerminalError RetryAfterError isRetryAfterError parseRetryAfter expectOk
    TimeoutError isTimeoutError seededRandom
  `;
  expect(Object.keys(root).sort()).toEqual(names(expected));
});

it("exports the Go names from /go", () => {
  const expected = `
    until nonSlidingUntil jitterUntil forever pollUntil delayUntil exponentialBackoff
    onError retryOnConflict isConflict DefaultRetry DefaultBackoff Group isInterrupted
    ExhaustedError isExhaustedError KeyedBackoff
  `;
  expect(Object.keys(go).sort()).toEqual(names(expected));
});

it("exports all other strategies from /strategies", () => {
  const expected = `
    AttemptBackoff BinaryExponentialBackoff ConstantBackoff DecorrelatedJitterBackoff
    EqualJitterBackoff ExcessiveCollisionsError FibonacciBackoff FullJitterBackoff
    GrpcBackoff LinearBackoff SymmetricJitterBackoff expectedSlots grpcBackoff
    isExcessiveCollisionsError
  `;
  expect(Object.keys(strategies).sort()).toEqual(names(expected));
});

it("exports the operators from /rxjs", () => {
  const expected = "backoffDelay backoffUntil$ pollBackoff repeatBackoff retryBackoff";
  expect(Object.keys(rxjs).sort()).toEqual(names(expected));
});
