import { abortable, aborted, LinkedController, onAbort, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { AbortCallbacks } from "../../../../test/abort-callbacks.ts";
import { AbortControllers } from "../../../../test/abort-controllers.ts";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";

const never = () => new Promise<never>(() => {});

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

const WAITS: Record<string, (signal: AbortSignal, owner: LinkedController) => Promise<unknown>> = {
  "a sleep on the real clock": (signal) => realClock.sleep(3_600_000, { signal }),
  "a sleep on a fake clock": (signal) => new FakeClock().sleep(1, { signal }),
  "a callback": (signal) => new Promise((_, reject) => onAbort(signal, reject)),
  "a wait for work": (signal) => abortable(never, signal),
  "a wait for work without a signal": (_, owner) => abortable(never, owner),
  "a wait for the abort": (signal) => aborted(signal).then(() => Promise.reject(signal.reason)),
};

it.each(Object.entries(WAITS))("ends %s itself, without a listener", async (_, wait) => {
  const owner = new LinkedController();
  const { signal } = owner;
  // Nobody can hide the abort from a wait that does not listen.
  signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
  const ended = wait(signal, owner);
  expect(abortListeners(signal)).toBe(1);
  owner.abort("bye");
  await expect(ended).rejects.toBe("bye");
});

it("makes its signal when that is first read, aborted if it has aborted", () => {
  using made = new AbortControllers();
  const [open, aborted] = [new LinkedController(), new LinkedController()];
  aborted.abort("bye");
  expect(made.count).toBe(0);
  expect([open.signal.aborted, aborted.signal.aborted, aborted.signal.reason]).toEqual([
    false,
    true,
    "bye",
  ]);
  expect(made.count).toBe(2);
});

it("aborts once, by default with an AbortError", () => {
  const owner = new LinkedController();
  owner.abort();
  owner.abort("again");
  expect(String(owner.signal.reason)).toBe("AbortError: This operation was aborted");
  expect(owner.reason).toBe(owner.signal.reason);
});

it("calls all other callbacks when one throws, and leaves the error uncaught", async () => {
  const owner = new LinkedController();
  const error = new Error("thrown");
  const heard: string[] = [];
  onAbort(owner.signal, () => {
    throw error;
  });
  onAbort(owner.signal, () => heard.push("last"));

  const uncaught = collectUncaught();
  owner.abort();
  expect([heard, uncaught.errors]).toEqual([["last"], []]);
  await new Promise((resolve) => setImmediate(resolve));
  uncaught[Symbol.dispose]();
  expect(uncaught.errors).toEqual([error]);
});
