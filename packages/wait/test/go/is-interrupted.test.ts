import { FakeClock } from "@holdfast/clock/testing";
import { TimeoutError } from "@holdfast/wait";
import { ExhaustedError, isInterrupted } from "@holdfast/wait/go";
import { expect, it } from "vitest";

const abort = AbortSignal.abort().reason as unknown;
const failure = new Error("refused");
const causedBy = (cause: unknown) => new Error("no leader", { cause });

it.each([
  { name: "our timeout", error: new TimeoutError(5000) },
  {
    name: "our timeout with a failure for its cause",
    error: new TimeoutError(1, { cause: failure }),
  },
  { name: "attempts that ran out", error: new ExhaustedError(3) },
  {
    name: "a timeout of another copy",
    error: Object.assign(new Error("x"), { code: "ERR_WAIT_TIMEOUT" }),
  },
  { name: "an abort without a reason", error: abort },
  { name: "the platform's timeout", error: new DOMException("x", "TimeoutError") },
  {
    name: "Node's abort",
    error: Object.assign(new Error("x"), { name: "AbortError", code: "ABORT_ERR" }),
  },
  { name: "an abort that is no Error of this realm", error: { name: "AbortError" } },
  { name: "an abort behind an error", error: causedBy(abort) },
  { name: "a timeout behind two errors", error: causedBy(causedBy(new TimeoutError(1))) },
  { name: "exhaustion behind an error", error: causedBy(new ExhaustedError(1)) },
])("$name is an interruption", ({ error }) => {
  expect(isInterrupted(error)).toBe(true);
});

it.each([
  { name: "undefined", error: undefined },
  { name: "null", error: null },
  { name: "a string", error: "AbortError" },
  { name: "a failure", error: failure },
  { name: "a failure behind an error", error: causedBy(failure) },
  { name: "another DOMException", error: new DOMException("x", "DataError") },
  { name: "a wrapper whose cause is called otherwise", error: { inner: abort, message: "x" } },
  { name: "a reason of the caller's own", error: AbortSignal.abort("bye").reason as unknown },
  { name: "several errors of which one is", error: new AggregateError([abort, failure]) },
])("$name is none", ({ error }) => {
  expect(isInterrupted(error)).toBe(false);
});

it("ends on causes that go round in a circle", () => {
  const first = new Error("first");
  first.cause = new Error("second", { cause: first });
  expect(isInterrupted(first)).toBe(false);
});

it("knows the timeout of a clock", async () => {
  const clock = new FakeClock();
  const limit = clock.timeout(1000);
  await clock.step(1000);
  expect(isInterrupted(limit.reason)).toBe(true);
});
