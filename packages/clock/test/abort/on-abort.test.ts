import { onAbort } from "@holdfast/clock";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectGarbage } from "../../../../test/collect-garbage.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";

describe("onAbort", () => {
  it("calls back once with the reason, in the order of the calls", () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    for (const id of [1, 2, 3]) onAbort(stop.signal, (reason) => heard.push([id, reason]));
    stop.abort("bye");
    stop.abort("again");
    expect(heard).toEqual([
      [1, "bye"],
      [2, "bye"],
      [3, "bye"],
    ]);
  });

  it.each(["gone", null, new Error("gone")])(
    "calls back at once if the signal is already aborted with %o",
    (reason) => {
      const signal = AbortSignal.abort(reason);
      const heard: unknown[] = [];
      const subscription = onAbort(signal, (told) => heard.push(told));
      expect([heard, abortListeners(signal)]).toEqual([[reason], 0]);
      subscription[Symbol.dispose]();
    },
  );

  it("leaves an error of the callback uncaught, also if the signal is already aborted", async () => {
    const error = new Error("thrown");
    const uncaught = collectUncaught();
    const subscription = onAbort(AbortSignal.abort(), () => {
      throw error;
    });
    expect(uncaught.errors).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    uncaught[Symbol.dispose]();
    subscription[Symbol.dispose]();
    expect(uncaught.errors).toHaveLength(1);
    expect(uncaught.errors[0]).toBe(error);
  });

  it("holds one listener while it has callbacks, and none otherwise", () => {
    const { signal } = new AbortController();
    const counts: number[] = [];
    const count = () => counts.push(abortListeners(signal));
    const first = onAbort(signal, () => {});
    const second = onAbort(signal, () => {});
    count();
    first[Symbol.dispose]();
    count();
    second[Symbol.dispose]();
    count();
    const third = onAbort(signal, () => {});
    count();
    third[Symbol.dispose]();
    count();
    expect(counts).toEqual([1, 1, 0, 1, 0]);
  });

  it("does not call a disposed callback at the front, in the middle or at the end", () => {
    const stop = new AbortController();
    const heard: number[] = [];
    const subscriptions = [0, 1, 2, 3, 4].map((id) => onAbort(stop.signal, () => heard.push(id)));
    for (const id of [2, 0, 4]) subscriptions[id]?.[Symbol.dispose]();
    stop.abort();
    expect(heard).toEqual([1, 3]);
  });

  it("ignores a second disposal, and a disposal after the abort", () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const gone = onAbort(stop.signal, () => heard.push("gone"));
    const stays = onAbort(stop.signal, () => heard.push("stays"));
    gone[Symbol.dispose]();
    gone[Symbol.dispose]();
    stop.abort();
    stays[Symbol.dispose]();
    expect(heard).toEqual(["stays"]);
  });

  it("disposes one of two subscriptions of the same function", () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    const callback = (reason: unknown) => heard.push(reason);
    const first = onAbort(stop.signal, callback);
    onAbort(stop.signal, callback);
    first[Symbol.dispose]();
    stop.abort("once");
    expect(heard).toEqual(["once"]);
  });

  it("lets a callback dispose others, dispose itself and add others", () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const self = onAbort(stop.signal, () => {
      heard.push("first");
      self[Symbol.dispose]();
      victim[Symbol.dispose]();
      onAbort(stop.signal, () => heard.push("added inside"));
    });
    const victim = onAbort(stop.signal, () => heard.push("victim"));
    onAbort(stop.signal, () => heard.push("last"));
    stop.abort();
    expect(heard).toEqual(["first", "added inside", "last"]);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("calls all other callbacks when one throws, and leaves the error uncaught", async () => {
    const stop = new AbortController();
    const error = new Error("thrown");
    const heard: string[] = [];
    onAbort(stop.signal, () => heard.push("first"));
    onAbort(stop.signal, () => {
      throw error;
    });
    onAbort(stop.signal, () => heard.push("last"));

    const uncaught = collectUncaught();
    stop.abort();
    expect([heard, uncaught.errors]).toEqual([["first", "last"], []]);
    await new Promise((resolve) => setImmediate(resolve));
    uncaught[Symbol.dispose]();
    expect(uncaught.errors).toEqual([error]);
    expect(uncaught.errors[0]).toBe(error);
  });

  it("throws an AggregateError with the errors of several callbacks, also falsy ones", async () => {
    const stop = new AbortController();
    const thrown = [new Error("one"), undefined, "three"];
    for (const error of thrown)
      onAbort(stop.signal, () => {
        throw error;
      });

    const uncaught = collectUncaught();
    stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    uncaught[Symbol.dispose]();
    const [aggregate] = uncaught.errors as [AggregateError];
    expect(uncaught.errors).toHaveLength(1);
    expect(aggregate).toBeInstanceOf(AggregateError);
    expect(aggregate.message).toBe("several abort callbacks threw");
    expect(aggregate.errors).toEqual(thrown);
  });

  it("works next to another copy of this package", async () => {
    vi.resetModules();
    const other = await import("@holdfast/clock");
    expect(other.onAbort).not.toBe(onAbort);
    const stop = new AbortController();
    const heard: string[] = [];
    onAbort(stop.signal, () => heard.push("this copy"));
    other.onAbort(stop.signal, () => heard.push("other copy"));
    expect(abortListeners(stop.signal)).toBe(2);
    stop.abort();
    expect(heard).toEqual(["this copy", "other copy"]);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("accepts an object that behaves like a signal", () => {
    class OtherSignal extends EventTarget {
      aborted = false;
      reason: unknown;
      abort(reason: unknown): void {
        this.aborted = true;
        this.reason = reason;
        this.dispatchEvent(new Event("abort"));
      }
    }
    const signal = new OtherSignal();
    const heard: unknown[] = [];
    onAbort(signal as unknown as AbortSignal, (reason) => heard.push(reason));
    signal.abort("from elsewhere");
    expect(heard).toEqual(["from elsewhere"]);
  });

  it("does not keep a signal alive", async () => {
    const refs = (() => {
      const [waited, idle] = [new AbortController(), new AbortController()];
      onAbort(waited.signal, () => {});
      onAbort(idle.signal, () => {})[Symbol.dispose]();
      return [new WeakRef(waited), new WeakRef(idle)];
    })();
    await collectGarbage();
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined]);
  });
});
