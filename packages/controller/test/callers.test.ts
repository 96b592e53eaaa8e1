import { FakeClock } from "@holdfast/clock/testing";
import { Controller, LeaderElector, Manager, MemoryLock } from "@holdfast/controller";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";

const never = (): Promise<never> => new Promise(() => {});

async function fails(): Promise<never> {
  await Promise.resolve();
  throw new Error("inside");
}

describe("the stack of an error shows the callers", () => {
  it("of a manager, when a runnable fails", async () => {
    const clock = new FakeClock();
    const manager = new Manager({ clock });
    manager.add({ name: "broken", run: fails });
    const { callers } = await clock.run(() =>
      callersOf(() => manager.run(new AbortController().signal)),
    );
    expect(callers).toEqual(BOTH);
  });

  it("of a second run", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const lock = new MemoryLock();
    const elector = new LeaderElector({ lock, identity: "a", lead: never, clock });
    const controller = new Controller<string>({ name: "c", reconcile: never, clock });
    const running = [elector.run(stop.signal), controller.run(stop.signal)];
    for (const { run } of [elector, controller].map((it) => ({ run: () => it.run(stop.signal) })))
      expect((await callersOf(run)).callers).toEqual(BOTH);
    stop.abort();
    void running;
  });

  const record = { holder: "a", leaseDuration: 1, acquiredAt: 0, renewedAt: 0, transitions: 0 };
  const { signal } = new AbortController();
  const postgres = new PostgresLock({ query: fails }, { name: "a" });
  const mysql = new MySqlLock({ execute: fails }, { name: "a" });

  it.each([postgres, mysql, new RedisLock({ eval: fails }, { key: "a" })])(
    "of a request to $constructor.name",
    async (lock) => {
      for (const request of [
        () => lock.get(signal),
        () => lock.create(record, signal),
        () => lock.update(record, "1", signal),
      ])
        expect((await callersOf(request)).callers).toEqual(BOTH);
    },
  );

  it.each([postgres, mysql])("of createTable of $constructor.name", async (lock) => {
    expect((await callersOf(() => lock.createTable())).callers).toEqual(BOTH);
  });
});
