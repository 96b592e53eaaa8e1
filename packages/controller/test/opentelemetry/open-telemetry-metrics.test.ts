import { FakeClock } from "@holdfast/clock/testing";
import { Controller, silentLogger, TerminalError } from "@holdfast/controller";
import { OpenTelemetryMetrics } from "@holdfast/controller/opentelemetry";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { keptBy, newMeter } from "../../../../test/metric-samples.ts";

/** A controller that succeeds, fails, gives up and is late, and still works on a key. */
async function run(
  metrics: OpenTelemetryMetrics | PrometheusMetrics,
): Promise<() => Promise<void>> {
  const clock = new FakeClock();
  const controller = new Controller({
    name: "orders",
    clock,
    workers: 3,
    timeout: 500,
    logger: silentLogger,
    metrics: metrics.controller("orders"),
    queueMetrics: metrics.queue("orders"),
    reconcile: async ({ key, attempt, signal }) => {
      if (key === "stuck") await clock.sleep(60_000);
      if (key === "slow") await clock.sleep(1_000, { signal });
      if (key === "wrong") throw new TerminalError("never");
      if (key === "later" && attempt === 1) throw new Error("away");
      return undefined;
    },
  });
  metrics.leadership("orders", { isLeader: true });
  metrics.shards("orders", {
    status: () => ({ held: [0, 2], giving: [2], wanted: 1, free: [], taken: 4 }),
  });
  metrics.queue("idle");
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  for (const key of ["fine", "later", "wrong", "slow", "stuck"]) controller.add(key);
  controller.add("urgent", { priority: 5 });
  await clock.step(20_000);
  return async () => {
    stop.abort();
    await clock.run(() => running);
  };
}

it("holds what a registry of prom-client holds after the same run", async () => {
  const { meter, collect } = newMeter();
  const register = new Registry();
  const ends = [
    await run(new OpenTelemetryMetrics({ meter })),
    await run(new PrometheusMetrics({ register })),
  ];
  const found = await collect();
  expect(found).toEqual(await keptBy(register));
  expect(found).toHaveLength(17);
  const lines = found.flatMap(({ samples }) => samples);
  expect(lines).toContain(
    'controller_runtime_reconcile_total{controller="orders",result="success"} 3',
  );
  expect(lines).toContain('shards_taken_total{name="orders"} 4');
  for (const end of ends) await end();
});

it("names the unit where the name does", async () => {
  const units = new Map<string, string | undefined>();
  const note = (name: string, { unit }: { unit?: string } = {}) => {
    units.set(name, unit);
    return { add: () => {}, record: () => {}, addCallback: () => {} };
  };
  const { meter } = newMeter();
  new OpenTelemetryMetrics({
    meter: Object.assign(Object.create(meter), {
      createCounter: note,
      createHistogram: note,
      createObservableGauge: note,
      createObservableCounter: note,
    }),
  });
  const isRight = ([name, unit]: [string, string | undefined]) =>
    unit === (name.endsWith("_seconds") ? "s" : undefined);
  expect([...units].filter((one) => !isRight(one))).toEqual([]);
  expect(units.size).toBe(17);
});
