import { FakeClock } from "@holdfast/clock/testing";
import type { KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { Progress } from "../../src/reflect/progress.ts";
import { RequestScope, RequestStop } from "../../src/reflect/request-scope.ts";

function scopeOf(signal: AbortSignal) {
  const clock = new FakeClock();
  const transport: KubeTransport = {
    description: "drips",
    async send() {
      await clock.sleep(60_000);
      async function* body() {
        await clock.sleep(60_000);
        yield Buffer.from("a");
        await clock.sleep(60_000);
        yield Buffer.from("b");
      }
      return { status: 200, headers: {}, body: body() };
    },
  };
  const scope = new RequestScope({ target: { clock, transport }, idleTimeout: 90_000 }, signal);
  return { clock, scope };
}

const request = { method: "GET", path: "/", headers: {} };

describe("the scope of requests", () => {
  it("ends after the idle timeout, counted from the last byte", async () => {
    const { clock, scope } = scopeOf(new AbortController().signal);
    await clock.run(async () => {
      const { body } = await scope.target.transport.send(request, scope.signal);
      for await (const _ of body) expect(scope.signal.aborted).toBe(false);
      expect(clock.monotonic()).toBe(1_180_000);
      await clock.sleep(89_999);
      expect(scope.signal.aborted).toBe(false);
      await clock.sleep(1);
    });
    expect(scope.signal.reason).toEqual(new RequestStop("idle"));
    expect(clock.waiters()).toBe(0);
  });

  it("ends with the signal of the reflector, with its reason", () => {
    const stop = new AbortController();
    const { scope } = scopeOf(stop.signal);
    stop.abort("enough");
    expect(scope.signal.reason).toBe("enough");
  });

  it("leaves no timer and no listener, and ends its requests", () => {
    const stop = new AbortController();
    const { clock, scope } = scopeOf(stop.signal);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([1, 1]);
    scope[Symbol.dispose]();
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
    expect(scope.signal.aborted).toBe(true);
  });
});

describe("progress", () => {
  it("resolves waits when their fact is true, and leaves nothing", async () => {
    const stop = new AbortController();
    const progress = new Progress();
    let value = 0;
    const waits = [1, 2].map((wanted) => progress.until(() => value >= wanted, stop.signal));
    await progress.until(() => true, stop.signal);
    progress.notify();
    expect([progress.waits, abortListeners(stop.signal)]).toEqual([2, 1]);
    value = 1;
    progress.notify();
    await waits[0];
    expect(progress.waits).toBe(1);
    value = 2;
    progress.notify();
    await waits[1];
    expect([progress.waits, abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("rejects waits with the reason of the abort, and leaves nothing", async () => {
    const stop = new AbortController();
    const progress = new Progress();
    const wait = progress.until(() => false, stop.signal);
    stop.abort("enough");
    await expect(wait).rejects.toBe("enough");
    await expect(progress.until(() => true, stop.signal)).rejects.toBe("enough");
    expect(progress.waits).toBe(0);
  });
});
