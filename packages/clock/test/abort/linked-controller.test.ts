import { LinkedController } from "@holdfast/clock";
import { expect, it } from "vitest";
import { AbortCallbacks } from "../../../../test/abort-callbacks.ts";

it("aborts with the first of its signals, and its reason", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  using linked = new LinkedController(first.signal, second.signal);
  second.abort("second");
  first.abort("first");
  expect(linked.signal.reason).toBe("second");
});

it("is aborted from the start by a signal that is", () => {
  using linked = new LinkedController(AbortSignal.abort("gone"));
  expect(linked.signal.reason).toBe("gone");
});

it("hears of no signal after its disposal, and leaves nothing on it", () => {
  using callbacks = new AbortCallbacks();
  const stop = new AbortController();
  const linked = new LinkedController(stop.signal);
  expect(callbacks.count).toBe(1);
  linked[Symbol.dispose]();
  expect(callbacks.count).toBe(0);
  stop.abort();
  expect(linked.signal.aborted).toBe(false);
});
