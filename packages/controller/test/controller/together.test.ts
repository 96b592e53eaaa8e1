import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  fromObservable,
  LeaderElector,
  Manager,
  MemoryLock,
  silentLogger,
} from "@holdfast/controller";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { Registry } from "prom-client";
import { Subject } from "rxjs";
import { expect, it } from "vitest";

it("processes a stream while it leads, reports to Prometheus, and leaves nothing behind", async () => {
  const clock = new FakeClock();
  const register = new Registry();
  const metrics = new PrometheusMetrics({ register });
  const lock = new MemoryLock();
  const changes = new Subject<string>();
  const reconciled: unknown[] = [];

  const elector = new LeaderElector({
    lock,
    identity: "a",
    clock,
    lead: ({ signal }) => {
      const controller = new Controller({
        name: "orders",
        logger: silentLogger,
        clock,
        sources: [fromObservable("changes", changes)],
        metrics: metrics.controller("orders"),
        queueMetrics: metrics.queue("orders"),
        reconcile({ key, attempt }) {
          reconciled.push([key, attempt]);
          if (attempt < 3) throw new Error("busy");
        },
      });
      return controller.run(signal);
    },
  });
  metrics.leadership("orders", elector);
  const manager = new Manager({ clock });
  manager.add(elector);
  const sampleOf = async (line: string) =>
    (await register.metrics()).split("\n").find((sample) => sample.startsWith(line));
  const leading = 'leader_election_master_status{name="orders"}';

  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await clock.step(1);
  expect(await sampleOf(leading)).toBe(`${leading} 1`);
  changes.next("order/1");
  changes.next("order/1");
  await clock.step(1_000);
  stop.abort();
  await clock.step(60_000);
  await running;

  expect(reconciled).toEqual([
    ["order/1", 1],
    ["order/1", 2],
    ["order/1", 3],
  ]);
  const total = 'controller_runtime_reconcile_total{controller="orders",result=';
  expect(await sampleOf(`${total}"error"`)).toBe(`${total}"error"} 2`);
  expect(await sampleOf(`${total}"success"`)).toBe(`${total}"success"} 1`);
  expect(await sampleOf(leading)).toBe(`${leading} 0`);
  expect((await lock.get(new AbortController().signal))?.record.holder).toBe("");
  expect([changes.observed, clock.waiters()]).toEqual([false, 0]);
});

it("accepts a controller as a runnable without an adapter", async () => {
  const clock = new FakeClock();
  const seen: string[] = [];
  const controller = new Controller({
    name: "orders",
    logger: silentLogger,
    clock,
    reconcile: ({ key }) => void seen.push(key),
  });
  const manager = new Manager({ clock });
  manager.add(controller);
  controller.add("7");
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await clock.step(0);
  expect(manager.status().runnables).toEqual([{ name: "orders", group: "main", state: "ready" }]);
  stop.abort();
  await running;
  expect([seen, controller.status().state, clock.waiters()]).toEqual([["7"], "stopped", 0]);
});

it("stops a reconcile that obeys its signal in time, with the defaults of all", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const endings: unknown[] = [];
  const controller = new Controller({
    name: "orders",
    logger: silentLogger,
    clock,
    reconcile: ({ signal }) =>
      clock.sleep(120_000, { signal }).finally(() => endings.push(clock.monotonic() - start)),
  });
  const manager = new Manager({ clock });
  manager.add(controller);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  controller.add("long");
  await clock.step(0);
  stop.abort();
  await clock.step(30_000);
  await running;
  expect(endings).toEqual([15_000]);
  expect(controller.status().drain?.running).toEqual([]);
  expect(clock.waiters()).toBe(0);
});
