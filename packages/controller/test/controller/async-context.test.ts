import { AsyncLocalStorage } from "node:async_hooks";
import { FakeClock } from "@holdfast/clock/testing";
import { Controller, type Reconciler, silentLogger } from "@holdfast/controller";
import { expect, it } from "vitest";

const store = new AsyncLocalStorage<string>();
const clock = new FakeClock();

const reconcilers: [string, Reconciler][] = [
  ["returns", ({ key }) => store.enterWith(key)],
  [
    "throws",
    ({ key }) => {
      store.enterWith(key);
      throw new Error("boom");
    },
  ],
  [
    "awaits before",
    async ({ key, signal }) => {
      await clock.sleep(1, { signal });
      store.enterWith(key);
      await clock.sleep(1, { signal });
    },
  ],
  [
    "awaits after",
    async ({ key, signal }) => {
      store.enterWith(key);
      await clock.sleep(1, { signal });
      if (store.getStore() !== key) throw new Error("the reconcile lost its own store");
    },
  ],
];

it.each(reconcilers)(
  "a store that a reconcile enters does not leak into the next: %s",
  async (_, reconcile) => {
    const seen: unknown[] = [];
    const stop = new AbortController();
    const errors: unknown[] = [];
    const controller = new Controller({
      name: "stores",
      clock,
      logger: silentLogger,
      retries: 0,
      onError: (error) => errors.push(`${error}`),
      reconcile(request) {
        seen.push([request.key, store.getStore()]);
        return reconcile(request);
      },
    });
    for (const key of ["a", "b", "c"]) controller.add(key);
    const running = store.run("of run", () => controller.run(stop.signal));
    await clock.step(100);
    controller.add("d");
    await clock.step(100);
    stop.abort();
    await running;
    expect(seen).toEqual(["a", "b", "c", "d"].map((key) => [key, "of run"]));
    expect(new Set(errors)).toEqual(new Set(errors.length === 0 ? [] : ["Error: boom"]));
  },
);
