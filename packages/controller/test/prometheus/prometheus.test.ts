import { FakeClock } from "@holdfast/clock/testing";
import { Controller, type ReconcileOutcome, silentLogger, WorkQueue } from "@holdfast/controller";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { register as globalRegister, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { taken } from "../queue/taken.ts";

function metricsOf() {
  const register = new Registry();
  const metrics = new PrometheusMetrics({ register });
  /** The samples whose name begins with one of these, without buckets. */
  const samples = async (...names: string[]) => {
    const lines = (await register.metrics()).split("\n");
    return lines.filter(
      (line) => names.some((name) => line.startsWith(name)) && !line.includes("_bucket{"),
    );
  };
  /** The upper bounds of a histogram. */
  const buckets = async (name: string) => {
    const { values } = (await register.getSingleMetric(name)?.get()) ?? { values: [] };
    return values.flatMap(({ labels }) => ("le" in labels ? [labels["le"]] : []));
  };
  return { register, metrics, samples, buckets };
}

describe("the metrics of queues in a registry of prom-client", () => {
  it("exist from the start, with zeros", async () => {
    const { metrics, samples } = metricsOf();
    new WorkQueue({ metrics: metrics.queue("q") });
    const labels = '{name="q",controller="q"}';
    expect(await samples("workqueue")).toEqual([
      `workqueue_adds_total${labels} 0`,
      `workqueue_retries_total${labels} 0`,
      `workqueue_queue_duration_seconds_sum${labels} 0`,
      `workqueue_queue_duration_seconds_count${labels} 0`,
      `workqueue_work_duration_seconds_sum${labels} 0`,
      `workqueue_work_duration_seconds_count${labels} 0`,
      'workqueue_depth{name="q",controller="q",priority="0"} 0',
      `workqueue_unfinished_work_seconds${labels} 0`,
      `workqueue_longest_running_processor_seconds${labels} 0`,
    ]);
  });

  it("follow a queue, in seconds", async () => {
    const { metrics, samples } = metricsOf();
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, metrics: metrics.queue("q") });
    const labels = '{name="q",controller="q"}';
    for (const key of ["a", "b", "c"]) queue.add(key);
    queue.add("a");
    queue.add("d", { priority: 7 });
    await clock.step(1_500);
    const first = taken(queue);
    const second = taken(queue);
    queue.retry("z");
    await clock.step(2);
    first.done();
    await clock.step(250);
    expect(await samples("workqueue")).toEqual([
      `workqueue_adds_total${labels} 5`,
      `workqueue_retries_total${labels} 1`,
      `workqueue_queue_duration_seconds_sum${labels} 3`,
      `workqueue_queue_duration_seconds_count${labels} 2`,
      `workqueue_work_duration_seconds_sum${labels} 0.002`,
      `workqueue_work_duration_seconds_count${labels} 1`,
      'workqueue_depth{name="q",controller="q",priority="0"} 3',
      'workqueue_depth{name="q",controller="q",priority="7"} 0',
      `workqueue_unfinished_work_seconds${labels} 0.252`,
      `workqueue_longest_running_processor_seconds${labels} 0.252`,
    ]);
    await clock.step(748);
    expect(await samples("workqueue_un", "workqueue_lo")).toEqual([
      `workqueue_unfinished_work_seconds${labels} 1`,
      `workqueue_longest_running_processor_seconds${labels} 1`,
    ]);
    second.done();
    expect(await samples("workqueue_un", "workqueue_lo")).toEqual([
      `workqueue_unfinished_work_seconds${labels} 0`,
      `workqueue_longest_running_processor_seconds${labels} 0`,
    ]);
  });

  it("have the buckets of client-go", async () => {
    const { metrics, buckets } = metricsOf();
    metrics.queue("q");
    const bounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1_000];
    for (const name of ["workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"]) {
      const labels = await buckets(name);
      expect(labels.slice(0, -1).map(Number)).toEqual(bounds);
      expect(labels.at(-1)).toBe("+Inf");
    }
  });

  it("spell the bounds of buckets like Go, and count in each", async () => {
    const { register, metrics } = metricsOf();
    const queue = metrics.queue("q");
    for (const seconds of [1e-8, 5e-6, 1e-5, 0.5, 1_000, 1_001]) queue.finished(seconds * 1_000);
    const text = await register.getSingleMetricAsString("workqueue_work_duration_seconds");
    const labels = /_bucket\{le="(.*)",name="q",controller="q"\} (\d+)/g;
    expect([...text.matchAll(labels)].map(([, le, count]) => `${le} ${count}`)).toEqual([
      "1e-08 1",
      "1e-07 1",
      "1e-06 1",
      "1e-05 3",
      "0.0001 3",
      "0.001 3",
      "0.01 3",
      "0.1 3",
      "1 4",
      "10 4",
      "100 4",
      "1000 5",
      "+Inf 6",
    ]);
  });

  it("a label for each of a thousand priorities (controller-runtime#3396)", async () => {
    const { metrics, samples } = metricsOf();
    const queue = new WorkQueue({ metrics: metrics.queue("q") });
    for (let i = 0; i < 1_000; i++) queue.add(`key ${i}`, { priority: i });
    const depths = await samples("workqueue_depth");
    expect(depths).toHaveLength(26);
    expect(depths.at(-1)).toBe(
      'workqueue_depth{name="q",controller="q",priority="exceeded_cardinality_limit"} 975',
    );
    while (queue.take() !== undefined);
    expect(new Set((await samples("workqueue_depth")).map((line) => line.split(" ")[1]))).toEqual(
      new Set(["0"]),
    );
  });

  it("have a label for each of 25 priorities without 0", async () => {
    const { metrics, samples } = metricsOf();
    const queue = new WorkQueue({ metrics: metrics.queue("q") });
    const labelled = (priority: number | string) =>
      `workqueue_depth{name="q",controller="q",priority="${priority}"} 1`;
    const priorities = Array.from({ length: 25 }, (_, i) => i + 1);
    for (const priority of priorities) queue.add(`key ${priority}`, { priority });
    expect(await samples("workqueue_depth")).toEqual(priorities.map(labelled));
    queue.add("plain");
    expect(await samples("workqueue_depth")).toEqual(
      [...priorities, "exceeded_cardinality_limit"].map(labelled),
    );
  });

  it("a recreated queue shows the depth of the previous one", async () => {
    const { metrics, samples } = metricsOf();
    const old = new WorkQueue({ metrics: metrics.queue("q") });
    old.add("a");
    old.add("b", { priority: 3 });
    taken(old);
    expect(await samples("workqueue_depth")).toHaveLength(2);
    const queue = new WorkQueue({ metrics: metrics.queue("q") });
    queue.add("c");
    old.add("d");
    expect(await samples("workqueue_depth", "workqueue_adds", "workqueue_un")).toEqual([
      'workqueue_adds_total{name="q",controller="q"} 4',
      'workqueue_depth{name="q",controller="q",priority="0"} 1',
      'workqueue_unfinished_work_seconds{name="q",controller="q"} 0',
    ]);
  });

  it("are kept apart by name", async () => {
    const { metrics, samples } = metricsOf();
    const a = new WorkQueue({ metrics: metrics.queue("a") });
    new WorkQueue({ metrics: metrics.queue("b") });
    a.add("key");
    expect(await samples("workqueue_depth")).toEqual([
      'workqueue_depth{name="a",controller="a",priority="0"} 1',
      'workqueue_depth{name="b",controller="b",priority="0"} 0',
    ]);
  });
});

describe("the metrics of controllers in a registry of prom-client", () => {
  it("exist from the start, with zeros", async () => {
    const { metrics, samples } = metricsOf();
    metrics.controller("c").maxWorkers(4);
    expect(await samples("controller_runtime")).toEqual([
      'controller_runtime_reconcile_total{controller="c",result="success"} 0',
      'controller_runtime_reconcile_total{controller="c",result="requeue_after"} 0',
      'controller_runtime_reconcile_total{controller="c",result="error"} 0',
      'controller_runtime_reconcile_total{controller="c",result="interrupted"} 0',
      'controller_runtime_reconcile_errors_total{controller="c"} 0',
      'controller_runtime_terminal_reconcile_errors_total{controller="c"} 0',
      'controller_runtime_reconcile_timeouts_total{controller="c"} 0',
      'controller_runtime_reconcile_time_seconds_sum{controller="c"} 0',
      'controller_runtime_reconcile_time_seconds_count{controller="c"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="c"} 4',
      'controller_runtime_active_workers{controller="c"} 0',
    ]);
  });

  it.each<{
    result: ReconcileOutcome;
    isLate: boolean;
    label: string;
    errors: number;
    terminal: number;
    timeouts: number;
  }>([
    { result: "success", isLate: false, label: "success", errors: 0, terminal: 0, timeouts: 0 },
    { result: "success", isLate: true, label: "success", errors: 0, terminal: 0, timeouts: 1 },
    {
      result: "requeue_after",
      isLate: false,
      label: "requeue_after",
      errors: 0,
      terminal: 0,
      timeouts: 0,
    },
    {
      result: "requeue_after",
      isLate: true,
      label: "requeue_after",
      errors: 0,
      terminal: 0,
      timeouts: 1,
    },
    { result: "error", isLate: false, label: "error", errors: 1, terminal: 0, timeouts: 0 },
    { result: "timeout", isLate: true, label: "error", errors: 1, terminal: 0, timeouts: 1 },
    { result: "terminal", isLate: false, label: "error", errors: 1, terminal: 1, timeouts: 0 },
    { result: "terminal", isLate: true, label: "error", errors: 1, terminal: 1, timeouts: 1 },
    { result: "gave_up", isLate: false, label: "error", errors: 1, terminal: 1, timeouts: 0 },
    { result: "gave_up", isLate: true, label: "error", errors: 1, terminal: 1, timeouts: 1 },
    {
      result: "interrupted",
      isLate: false,
      label: "interrupted",
      errors: 0,
      terminal: 0,
      timeouts: 0,
    },
  ])(
    "count $result once, as $label, late: $isLate",
    async ({ result, isLate, label, errors, terminal, timeouts }) => {
      const { metrics, samples } = metricsOf();
      metrics.controller("c").reconciled(result, 1_250, isLate);
      const totals = await samples("controller_runtime_reconcile_total");
      expect(totals.filter((line) => !line.endsWith(" 0"))).toEqual([
        `controller_runtime_reconcile_total{controller="c",result="${label}"} 1`,
      ]);
      expect(
        await samples(
          "controller_runtime_reconcile_errors_total{",
          "controller_runtime_terminal_reconcile_errors_total{",
          "controller_runtime_reconcile_timeouts_total{",
          "controller_runtime_reconcile_time_seconds_",
        ),
      ).toEqual([
        `controller_runtime_reconcile_errors_total{controller="c"} ${errors}`,
        `controller_runtime_terminal_reconcile_errors_total{controller="c"} ${terminal}`,
        `controller_runtime_reconcile_timeouts_total{controller="c"} ${timeouts}`,
        'controller_runtime_reconcile_time_seconds_sum{controller="c"} 1.25',
        'controller_runtime_reconcile_time_seconds_count{controller="c"} 1',
      ]);
    },
  );

  it("count a timeout that ends the retries of a key", async () => {
    const { metrics, samples } = metricsOf();
    const clock = new FakeClock();
    const controller = new Controller({
      name: "c",
      logger: silentLogger,
      clock,
      timeout: 100,
      retries: 1,
      metrics: metrics.controller("c"),
      reconcile: ({ signal }) => clock.sleep(1_000, { signal }),
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    controller.add("a");
    await clock.step(1_000);
    stop.abort();
    await clock.step(0);
    await running;
    expect(
      await samples(
        "controller_runtime_reconcile_timeouts_total{",
        "controller_runtime_terminal_reconcile_errors_total{",
      ),
    ).toEqual([
      'controller_runtime_terminal_reconcile_errors_total{controller="c"} 1',
      'controller_runtime_reconcile_timeouts_total{controller="c"} 2',
    ]);
  });

  it("count a reconcile that succeeds after its timeout as a timeout", async () => {
    const { metrics, samples } = metricsOf();
    const clock = new FakeClock();
    const controller = new Controller({
      name: "c",
      logger: silentLogger,
      clock,
      timeout: 100,
      metrics: metrics.controller("c"),
      reconcile: ({ key }) => clock.sleep(key === "late" ? 101 : 99),
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    controller.add("late");
    controller.add("in time");
    await clock.step(1_000);
    stop.abort();
    await running;
    expect(
      await samples(
        "controller_runtime_reconcile_errors_total{",
        "controller_runtime_reconcile_timeouts_total{",
      ),
    ).toEqual([
      'controller_runtime_reconcile_errors_total{controller="c"} 0',
      'controller_runtime_reconcile_timeouts_total{controller="c"} 1',
    ]);
  });

  it("count busy workers up and down", async () => {
    const { metrics, samples } = metricsOf();
    const controller = metrics.controller("c");
    for (const change of [1, 1, 1, -1]) controller.activeWorkers(change);
    expect(await samples("controller_runtime_active_workers")).toEqual([
      'controller_runtime_active_workers{controller="c"} 2',
    ]);
  });

  it("have the buckets of controller-runtime", async () => {
    const { metrics, buckets } = metricsOf();
    metrics.controller("c");
    const bounds = await buckets("controller_runtime_reconcile_time_seconds");
    expect([bounds.length, bounds[0], bounds[4], bounds.at(-2)]).toEqual([41, 0.005, 0.1, 60]);
  });
});

describe("a registry of prom-client", () => {
  it("shows the current leader at each scrape", async () => {
    const { metrics, samples } = metricsOf();
    const elector = { isLeader: false };
    metrics.leadership("jobs", elector);
    expect(await samples("leader")).toEqual(['leader_election_master_status{name="jobs"} 0']);
    elector.isLeader = true;
    expect(await samples("leader")).toEqual(['leader_election_master_status{name="jobs"} 1']);
  });

  it("shows the slots of a process at each scrape", async () => {
    const { metrics, samples } = metricsOf();
    const status = {
      held: [0, 2],
      giving: [2],
      wanted: 1 as number | undefined,
      free: [3],
      taken: 2,
    };
    metrics.shards("jobs", { status: () => status });
    expect(await samples("shards_")).toEqual([
      'shards_slots{name="jobs",state="held"} 2',
      'shards_slots{name="jobs",state="giving"} 1',
      'shards_slots{name="jobs",state="wanted"} 1',
      'shards_slots{name="jobs",state="free"} 1',
      'shards_taken_total{name="jobs"} 2',
    ]);
    Object.assign(status, { giving: [], wanted: undefined, free: [], taken: 5 });
    expect(await samples("shards_taken")).toEqual(['shards_taken_total{name="jobs"} 5']);
    expect(await samples("shards_slots")).toContain('shards_slots{name="jobs",state="wanted"} 0');
  });

  it("has exactly the metrics that are promised", async () => {
    const { register } = metricsOf();
    expect((await register.getMetricsAsJSON()).map(({ name, type }) => `${name} ${type}`)).toEqual([
      "workqueue_adds_total counter",
      "workqueue_retries_total counter",
      "workqueue_queue_duration_seconds histogram",
      "workqueue_work_duration_seconds histogram",
      "workqueue_depth gauge",
      "workqueue_unfinished_work_seconds gauge",
      "workqueue_longest_running_processor_seconds gauge",
      "controller_runtime_reconcile_total counter",
      "controller_runtime_reconcile_errors_total counter",
      "controller_runtime_terminal_reconcile_errors_total counter",
      "controller_runtime_reconcile_timeouts_total counter",
      "controller_runtime_reconcile_time_seconds histogram",
      "controller_runtime_max_concurrent_reconciles gauge",
      "controller_runtime_active_workers gauge",
      "leader_election_master_status gauge",
      "shards_slots gauge",
      "shards_taken_total counter",
    ]);
  });

  it("describes each metric as in client-go and controller-runtime", async () => {
    const { register } = metricsOf();
    expect((await register.getMetricsAsJSON()).map(({ name, help }) => [name, help])).toEqual([
      ["workqueue_adds_total", "Number of adds that the queue has handled"],
      ["workqueue_retries_total", "Number of retries that the queue has handled"],
      [
        "workqueue_queue_duration_seconds",
        "Seconds that a key stays in the queue before it is taken",
      ],
      [
        "workqueue_work_duration_seconds",
        "Seconds from the moment a key is taken until its work is done",
      ],
      ["workqueue_depth", "Keys in the queue now, by priority"],
      [
        "workqueue_unfinished_work_seconds",
        "Seconds of work in progress that work_duration has not observed yet, added up. Large values mean stuck workers; the rate of growth is their number",
      ],
      [
        "workqueue_longest_running_processor_seconds",
        "Seconds since the start of the work that has been in progress for longest",
      ],
      [
        "controller_runtime_reconcile_total",
        "Number of reconciles that have ended, by controller and result",
      ],
      [
        "controller_runtime_reconcile_errors_total",
        "Number of reconciles that have ended with an error, by controller",
      ],
      [
        "controller_runtime_terminal_reconcile_errors_total",
        "Number of reconciles that have ended with a terminal error, by controller",
      ],
      [
        "controller_runtime_reconcile_timeouts_total",
        "Number of reconciles whose timeout expired, by controller",
      ],
      ["controller_runtime_reconcile_time_seconds", "Seconds that a reconcile took, by controller"],
      [
        "controller_runtime_max_concurrent_reconciles",
        "Maximum number of reconciles at a time, by controller",
      ],
      ["controller_runtime_active_workers", "Number of workers that are busy now, by controller"],
      [
        "leader_election_master_status",
        "Whether this process leads: 1 for the leader, 0 for a candidate. The label name is that of the lease; group by it",
      ],
      [
        "shards_slots",
        "Slots by state: held by this process, of these giving, wanted from another process, free as last seen",
      ],
      ["shards_taken_total", "Slots that this process has taken"],
    ]);
  });

  it("is prom-client's default if none is given", async () => {
    new PrometheusMetrics().queue("q");
    const names = (await globalRegister.getMetricsAsJSON()).map(({ name }) => name);
    globalRegister.clear();
    expect(names).toContain("workqueue_depth");
  });

  it("refuses a second set, like any duplicate name", () => {
    const { register } = metricsOf();
    expect(() => new PrometheusMetrics({ register })).toThrow("workqueue_adds_total");
  });

  it.each<{ what: string; call: () => unknown; error: Error }>([
    {
      what: "bad options",
      call: () => Reflect.construct(PrometheusMetrics, [null]) as unknown,
      error: new TypeError("options must be an object, got null"),
    },
    {
      what: "no registry",
      call: () => Reflect.construct(PrometheusMetrics, [{ register: {} }]) as unknown,
      error: new TypeError(
        "options.register must have a method registerMetric(), got [object Object]",
      ),
    },
    {
      what: "an empty name",
      call: () => metricsOf().metrics.queue(""),
      error: new RangeError('name must be a non-empty string, got ""'),
    },
    {
      what: "a name that is not a string",
      call: () =>
        Reflect.apply(metricsOf().metrics.controller, metricsOf().metrics, [1]) as unknown,
      error: new TypeError("name must be a string, got 1"),
    },
  ])("is refused $what", ({ call, error }) => {
    expect(call).toThrow(error);
  });
});

describe("the gauges of a queue that has ended", () => {
  it("are gone after the stop of its controller, its counters remain", async () => {
    const { metrics, samples } = metricsOf();
    const clock = new FakeClock();
    const controller = new Controller({
      name: "orders",
      clock,
      logger: silentLogger,
      metrics: metrics.controller("orders"),
      queueMetrics: metrics.queue("orders"),
      grace: 0,
      workers: 1,
      reconcile: async ({ signal }) => await clock.sleep(60_000, { signal }),
    });
    const stop = new AbortController();
    await clock.run(async () => {
      const running = controller.run(stop.signal);
      for (let key = 0; key < 29; key++) controller.add(`${key}`);
      await clock.sleep(1);
      expect(await samples("workqueue_depth")).toHaveLength(1);
      stop.abort();
      await running;
    });
    expect(await samples("workqueue_depth", "workqueue_unfinished", "workqueue_longest")).toEqual(
      [],
    );
    expect(await samples("workqueue_adds_total")).toEqual([
      'workqueue_adds_total{name="orders",controller="orders"} 29',
    ]);
  });

  it("stay for a newer queue of the same name", async () => {
    const { metrics, samples } = metricsOf();
    const clock = new FakeClock();
    const old = new WorkQueue({ clock, metrics: metrics.queue("q") });
    new WorkQueue({ clock, metrics: metrics.queue("q") }).add("a");
    await old.drain();
    expect(await samples("workqueue_depth")).toEqual([
      'workqueue_depth{name="q",controller="q",priority="0"} 1',
    ]);
  });

  it("end when a queue that is shut down is done", async () => {
    const { metrics, samples } = metricsOf();
    const queue = new WorkQueue({ metrics: metrics.queue("q") });
    queue.add("a");
    queue.shutDown();
    expect(await samples("workqueue_depth")).toHaveLength(1);
    taken(queue).done();
    expect(await samples("workqueue_depth")).toEqual([]);
  });
});
