import { AsyncLocalStorage } from "node:async_hooks";
import { mock } from "node:test";
import { install } from "@sinonjs/fake-timers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ContextStores } from "./context-stores.ts";
import { ReplaceableGlobals } from "./replaceable-globals.ts";

const { Date: realDate, setTimeout: realSetTimeout } = globalThis;
const globals = new ReplaceableGlobals();

afterEach(() => globals.restore());

describe("a file that shares its worker", () => {
  it("starts without replaced globals", () => {
    expect(globals.replaced()).toEqual([]);
  });

  it.each<{ by: string; fake: () => () => void; names: string[] }>([
    {
      by: "vitest",
      fake() {
        vi.useFakeTimers({ toFake: ["Date", "performance"] });
        return () => vi.useRealTimers();
      },
      names: ["performance", "Date"],
    },
    {
      by: "@sinonjs/fake-timers",
      fake() {
        const clock = install({ toFake: ["setTimeout", "nextTick", "hrtime"] });
        return () => clock.uninstall();
      },
      names: ["setTimeout", "nextTick", "hrtime"],
    },
    {
      by: "node:test",
      fake() {
        const silenced = vi.spyOn(process, "emitWarning").mockReturnValue(); // an experimental API
        mock.timers.enable({ apis: ["setInterval", "Date"] });
        return () => {
          mock.timers.reset();
          silenced.mockRestore();
        };
      },
      names: ["setInterval", "clearInterval", "Date"],
    },
    {
      by: "a spy",
      fake() {
        const spies = [vi.spyOn(Math, "random"), vi.spyOn(globalThis, "setImmediate")];
        return () => spies.forEach((spy) => void spy.mockRestore());
      },
      names: ["setImmediate", "random"],
    },
  ])("reports what $by has replaced, until it is restored", ({ fake, names }) => {
    const putBack = fake();
    expect(globals.replaced()).toEqual(names);
    putBack();
    expect(globals.replaced()).toEqual([]);
  });

  it("leaves the real globals to later files, even if it does not restore them", () => {
    const later: number[] = [];
    globalThis.setTimeout = ((_: unknown, delay: number) => later.push(delay)) as never;
    globalThis.Date = class extends Date {} as DateConstructor;
    performance.now = () => 0;
    globals.restore();
    expect([globalThis.setTimeout, globalThis.Date]).toEqual([realSetTimeout, realDate]);
    expect(performance.now()).toBeGreaterThan(0);
  });

  it.each<{ how: "run" | "enterWith" }>([{ how: "run" }, { how: "enterWith" }])(
    "keeps no context store in use, which would make each promise cost more: $how",
    ({ how }) => {
      const { run, enterWith } = AsyncLocalStorage.prototype;
      const store = new AsyncLocalStorage<string>();
      const disable = vi.spyOn(store, "disable");
      {
        using _ = new ContextStores();
        store[how]("here", () => undefined);
        expect(disable).not.toHaveBeenCalled();
      }
      expect(disable).toHaveBeenCalledOnce();
      expect(AsyncLocalStorage.prototype).toMatchObject({ run, enterWith });
      expect(store.run("again", () => store.getStore())).toBe("again");
    },
  );

  it("cannot mock a module", () => {
    expect(() => vi.doMock("./replaceable-globals.ts")).toThrow("Spy on what the module exports");
  });
});
