import { FakeClock } from "@holdfast/clock/testing";
import {
  LeaderElector,
  type LeaderElectorOptions,
  Manager,
  MemoryLock,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const lock = new MemoryLock();
const clock = new FakeClock();

function elector(options: Partial<LeaderElectorOptions>): LeaderElector {
  return new LeaderElector({ lock, identity: "baz", lead: () => {}, clock, ...options });
}

describe("options (TestLeaderElectionConfigValidation)", () => {
  it.each<[object, Error]>([
    [{ name: "" }, new RangeError('options.name must be a non-empty string, got ""')],
    [{ lock: {} }, new TypeError("options.lock must have a method get(), got [object Object]")],
    [{ identity: "" }, new RangeError('options.identity must be a non-empty string, got ""')],
    [{ identity: 5 }, new TypeError("options.identity must be a string, got 5")],
    [{ lead: 5 }, new TypeError("options.lead must be a function, got 5")],
    [{ retryPeriod: 0 }, new RangeError("options.retryPeriod must be a number above 0, got 0")],
    [
      { leaseDuration: Number.POSITIVE_INFINITY },
      new RangeError("options.leaseDuration must be a finite number, got Infinity"),
    ],
    [
      { renewDeadline: Number.NaN },
      new RangeError("options.renewDeadline must be a finite number, got NaN"),
    ],
    [
      { leaseDuration: 10_000 },
      new RangeError(
        "options.leaseDuration must be above options.renewDeadline (10000), got 10000",
      ),
    ],
    [
      { renewDeadline: 2_400 },
      new RangeError(
        "options.renewDeadline must be above 1.2 times options.retryPeriod (2400), got 2400",
      ),
    ],
    [{ once: 1 }, new TypeError("options.once must be true or false, got 1")],
    [{ clock: {} }, new TypeError("options.clock must have a method now(), got [object Object]")],
    [{ onNewLeader: 1 }, new TypeError("options.onNewLeader must be a function, got 1")],
    [{ onError: 1 }, new TypeError("options.onError must be a function, got 1")],
    [{ random: 1 }, new TypeError("options.random must be a function, got 1")],
    [
      { logger: console.log },
      new TypeError("options.logger must have a method debug(), got function log"),
    ],
  ])("refuses %o", (options, error) => {
    expect(() => elector(options)).toThrow(error);
  });

  it("name the elector in a manager", () => {
    const manager = new Manager({ clock });
    manager.add(elector({}));
    manager.add(elector({ name: "janitor" }));
    expect(manager.status().runnables.map(({ name }) => name)).toEqual([
      "leader-elector",
      "janitor",
    ]);
  });

  it("have the defaults of Kubernetes' programs", async () => {
    const stop = new AbortController();
    const baz = new LeaderElector({ lock, identity: "baz", lead: () => {}, once: true });
    const run = baz.run(stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await lock.get(stop.signal))?.record.leaseDuration).toBe(15_000);
    stop.abort();
    await run;
  });

  it.each<[unknown, Error]>([
    [null, new TypeError("options must be an object, got null")],
    [{ ref: "no" }, new TypeError('options.ref must be true or false, got "no"')],
  ])("rejects the run options %o", async (options, error) => {
    const { signal } = new AbortController();
    await expect(elector({}).run(signal, options as never)).rejects.toThrow(error);
  });

  it("rejects a value that is not a signal", async () => {
    await expect(elector({}).run(5 as never)).rejects.toThrow(
      new TypeError("signal must be an AbortSignal, got 5"),
    );
  });
});
