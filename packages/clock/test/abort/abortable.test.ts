import { abortable, aborted } from "@holdfast/clock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

describe("abortable", () => {
  let stop: AbortController;

  beforeEach(() => {
    stop = new AbortController();
  });

  afterEach(() => {
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it.each([
    ["a value", () => 7],
    ["a promise", async () => 7],
  ])("resolves with %s of the work, which receives the signal", async (_, work) => {
    const received = vi.fn(work);
    expect(await abortable(received, stop.signal)).toBe(7);
    expect(received).toHaveBeenCalledWith(stop.signal);
  });

  it.each([
    ["throws", () => raise(new Error("inside"))],
    ["rejects", () => Promise.reject(new Error("inside"))],
  ])("rejects with the error when the work %s", async (_, work) => {
    await expect(abortable(work, stop.signal)).rejects.toThrow("inside");
  });

  it("does not call the work after the abort", async () => {
    const work = vi.fn();
    stop.abort("bye");
    await expect(abortable(work, stop.signal)).rejects.toBe("bye");
    expect(work).not.toHaveBeenCalled();
  });

  it("rejects with the reason when the work aborts the signal and throws", async () => {
    const work = (): never => {
      stop.abort("bye");
      throw new Error("inside");
    };
    await expect(abortable(work, stop.signal)).rejects.toBe("bye");
  });

  it("rejects at the abort, and passes a late value to onLate", async () => {
    const onLate = vi.fn();
    let finish!: (value: string) => void;
    const work = () => new Promise<string>((resolve) => (finish = resolve));
    const wait = abortable(work, stop.signal, onLate);
    stop.abort("bye");
    await expect(wait).rejects.toBe("bye");
    expect(onLate).not.toHaveBeenCalled();
    finish("late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(onLate.mock.calls).toEqual([["late"]]);
  });

  it("ignores a late error", async () => {
    let fail!: (error: unknown) => void;
    const work = () => new Promise((_, reject) => (fail = reject));
    const wait = abortable(work, stop.signal);
    stop.abort("bye");
    await expect(wait).rejects.toBe("bye");
    fail(new Error("late")); // an unhandled rejection would fail the run
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("shows the callers in the stack of an error, and not itself", async () => {
    async function work(): Promise<never> {
      await Promise.resolve();
      throw new Error("inside");
    }
    async function inner(): Promise<void> {
      await abortable(work, stop.signal);
    }
    async function outer(): Promise<void> {
      await inner();
    }
    const error = await outer().catch((cause: unknown) => cause as Error);
    const frames = error?.stack?.match(/(work|abortable|inner|outer)(?= )/g);
    expect(frames).toEqual(["work", "inner", "outer"]);
  });
});

describe("aborted", () => {
  it("resolves when the signal aborts, and for an aborted signal", async () => {
    const stop = new AbortController();
    const seen = vi.fn();
    const wait = aborted(stop.signal).then(seen);
    await Promise.resolve();
    expect(seen).not.toHaveBeenCalled();
    stop.abort();
    await wait;
    await aborted(stop.signal);
    expect(seen).toHaveBeenCalledTimes(1);
  });
});

function raise(error: Error): never {
  throw error;
}
