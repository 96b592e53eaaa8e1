import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/controller";
import * as fileLock from "@holdfast/controller/file-lock";
import * as mysqlLock from "@holdfast/controller/mysql-lock";
import * as opentelemetry from "@holdfast/controller/opentelemetry";
import * as postgresLock from "@holdfast/controller/postgres-lock";
import * as prometheus from "@holdfast/controller/prometheus";
import * as recording from "@holdfast/controller/recording";
import * as redisLock from "@holdfast/controller/redis-lock";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";

const { all, arrayOf, f, finite, methods, outside, refuses, text, whole } = kinds;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const queue = new root.WorkQueue({ clock });
const manager = new root.Manager({ clock, groups: [{ name: "a" }, { name: "b" }] });
const idle = { name: "idle", run: () => Promise.resolve() };
manager.add(idle);
const controller = new root.Controller({ name: "controller", reconcile: f, clock });
const batch = new root.Controller({ name: "batch", reconcile: f, clock });
const electing = { lock: new root.MemoryLock(), identity: "a", lead: f, clock };
const elector = new root.LeaderElector(electing);
const sharding = { identity: "a", lockOf: () => new root.MemoryLock(), lead: f, clock };
const shards = new root.Shards(sharding);
const metrics = new prometheus.PrometheusMetrics({ register: new Registry() });
const source = { name: "source", start: f };
const bounds = { fast: 1, slow: 2, maxFast: 3, clock };
const rate = { qps: 1, burst: 1, clock };
const tokens = new root.TokenBucketLimiter(rate);
const exponential = new root.ExponentialLimiter({ clock });
const most = new root.MaxOfLimiter([exponential], { clock });
const counting = [exponential, new root.FastSlowLimiter(bounds), tokens, most];

const finiteAbove0 = all(finite, outside("a number above 0", 0, -1));
const own = {
  interval: finiteAbove0,
  sources: arrayOf(methods("start")),
  leadership: kinds.unchecked,
  slotCount: all(whole(1), outside("a number from 1 to 1024", 1_025)),
  /** A text that a database stores unchanged. */
  lockName: all(
    text,
    refuses("RangeError: PATH must be well-formed Unicode without NUL", "a\0b", "a\ud800b"),
    refuses("RangeError: PATH must be at most 255 bytes of UTF-8, got 256", "ü".repeat(128)),
  ),
  /** A part of SQL that is never quoted. */
  tableName: all(
    kinds.string,
    refuses(
      "RangeError: PATH must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got GOT",
      ...["", "Lock", "1a", "a-b", "a.b.c", "a.", 'a"; DROP TABLE b; --', "$$"],
    ),
    refuses(
      `RangeError: PATH must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got "${"x".repeat(60)}"`,
      "x".repeat(64),
    ),
  ),
  leaseDuration: all(
    finite,
    refuses("RangeError: PATH must be above options.renewDeadline (10000), got GOT", 10_000),
  ),
  renewDeadline: all(
    finite,
    refuses("RangeError: PATH must be above 1.2 times options.retryPeriod (2400), got GOT", 2_400),
  ),
  retryPeriod: finiteAbove0,
  group: refuses('RangeError: PATH must be "a" or "b", got GOT', "c"),
  groups: all(
    (path, valid) => arrayOf(options("GROUP_OPTIONS"))(path, valid),
    refuses("RangeError: PATH must contain at least one group, got none", []),
    refuses('RangeError: PATH must have unique names, got "a" twice', [
      { name: "a" },
      { name: "a" },
    ]),
  ),
  limiters: all(
    arrayOf(methods("when", "forget", "requeues")),
    refuses("RangeError: PATH must contain at least one limiter", []),
  ),
  runnable: all(
    methods("run"),
    kinds.fields({
      name: all(
        kinds.required(text),
        refuses("RangeError: PATH must be unique, got GOT twice", "idle"),
      ),
    }),
  ),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, options, rejects, throws } = await kinds.doorsOf(sources, own);

const running = "signal: abortSignal, options?: RUN_OPTIONS";
const runs = (on: { run: (...args: never[]) => unknown }, declared = running): kinds.Door =>
  method(on, "run", "rejects", [live, {}], declared);

const doors = [
  constructs(
    root.RunnableError,
    ["web", "failed"],
    "runnable: anything, problem: anything, options?: RUNNABLE_ERROR_OPTIONS",
  ),

  constructs(root.WorkQueue, [{ clock }], "options?: WORK_QUEUE_OPTIONS"),
  method(queue, "add", "throws", ["a"], "the key of an item: string, options?: ADD_OPTIONS"),
  method(queue, "retry", "throws", ["a"], "the key of an item: string, options?: RETRY_OPTIONS"),
  method(queue, "get", "rejects", [live], "signal?: abortSignal"),
  method(queue, "idle", "rejects", [live], "signal?: abortSignal"),
  method(queue, "drain", "rejects", [{ signal: live }], "options?: DRAIN_OPTIONS"),

  constructs(root.ExponentialLimiter, [{ clock }], "options?: EXPONENTIAL_LIMITER_OPTIONS"),
  constructs(root.FastSlowLimiter, [bounds], "options: FAST_SLOW_LIMITER_OPTIONS"),
  constructs(root.TokenBucketLimiter, [rate], "options: TOKEN_BUCKET_LIMITER_OPTIONS"),
  method(tokens, "acquire", "rejects", [live], "signal?: abortSignal"),
  ...counting.map((each) => method(each, "when", "throws", ["a"], "key: anything, after?: delay")),
  constructs(
    root.MaxOfLimiter,
    [[exponential], { clock }],
    "limiters: limiters, options?: MAX_OF_LIMITER_OPTIONS",
  ),

  throws(root.fromCallback, ["a", f], "name: anything, subscribe: func"),
  throws(root.fromIterable, ["a", f], "name: anything, open: func"),
  throws(
    root.fromObservable,
    ["a", { subscribe: f }],
    "name: anything, observable: methods(subscribe)",
  ),
  throws(root.filterSource, [source, f], "source: anything, isWanted: func"),
  throws(root.mapSource, [source, f], "source: anything, targetsOf: func"),
  throws(root.resync, [{ list: f, interval: 1 }], "options: RESYNC_OPTIONS"),

  constructs(root.Controller, [{ name: "a", reconcile: f, clock }], "options: CONTROLLER_OPTIONS"),
  method(
    controller,
    "add",
    "throws",
    ["a"],
    "the key of an item: string, options?: ENQUEUE_OPTIONS",
  ),
  method(
    controller,
    "addSource",
    "throws",
    [source, live],
    "source: methods(start), signal?: abortSignal",
  ),
  runs(controller),
  method(batch, "runUntilIdle", "rejects", [live, {}], running),

  constructs(root.LeaderElector, [electing], "options: LEADER_ELECTOR_OPTIONS"),
  runs(elector),
  throws(root.slotOf, ["a", 16], "key: text, count: slotCount"),
  constructs(root.Shards, [sharding], "options: SHARDS_OPTIONS"),
  throws((key: string) => shards.slotOf(key), ["a"], "key: text"),
  runs(shards),
  constructs(fileLock.FileLock, ["directory", {}], "directory: text, options?: FILE_LOCK_OPTIONS"),
  constructs(
    postgresLock.PostgresLock,
    [{ query: async () => ({ rows: [] }) }, { name: "a" }],
    "client: methods(query), options: POSTGRES_LOCK_OPTIONS",
  ),
  throws(postgresLock.createTableSql, [], "table?: tableName"),
  constructs(
    mysqlLock.MySqlLock,
    [{ execute: async () => [[], undefined] }, { name: "a" }],
    "client: methods(execute), options: SQL_LOCK_OPTIONS",
  ),
  throws(mysqlLock.createTableSql, [], "table?: tableName"),
  constructs(
    redisLock.RedisLock,
    [{ eval: async () => undefined }, { key: "key" }],
    "client: methods(eval), options: REDIS_LOCK_OPTIONS",
  ),

  constructs(root.Manager, [{ groups: [{ name: "a" }], clock }], "options?: MANAGER_OPTIONS"),
  method(
    manager,
    "add",
    "throws",
    [{ ...idle, name: "other" }],
    "runnable: runnable, options?: ADD_RUNNABLE_OPTIONS",
  ),
  runs(manager, "signal?: abortSignal, options?: RUN_OPTIONS"),

  rejects(recording.openRecording, ["a", { name: "b" }], "path: text, options?: OPEN_OPTIONS"),
  constructs(
    prometheus.PrometheusMetrics,
    [{ register: new Registry() }],
    "options?: PROMETHEUS_METRICS_OPTIONS",
  ),
  constructs(
    opentelemetry.OpenTelemetryMetrics,
    [{ meter: newMeter().meter }],
    "options: OPEN_TELEMETRY_METRICS_OPTIONS",
  ),
  method(metrics, "queue", "throws", ["a"], "name: text"),
  method(metrics, "controller", "throws", ["a"], "name: text"),
  method(metrics, "leadership", "throws", ["a", elector], "name: text, candidate: anything"),
  throws(
    opentelemetry.traced,
    [f, { tracer: { startActiveSpan: f } }],
    "reconcile: func, options: TRACED_OPTIONS",
  ),
];

kinds.testBadInput(doors, () => {
  expect(manager.status()).toEqual({
    state: "idle",
    runnables: [{ name: "idle", group: "b", state: "waiting" }],
  });
  expect([queue.size, queue.delayed, queue.isShutDown]).toEqual([0, 0, false]);
  expect([controller.status().state, controller.status().queue.size]).toEqual(["idle", 0]);
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

kinds.testEveryExport(
  new URL("../api/", import.meta.url),
  {
    index: root,
    "file-lock": fileLock,
    "postgres-lock": postgresLock,
    "mysql-lock": mysqlLock,
    "redis-lock": redisLock,
    prometheus,
    opentelemetry,
  },
  doors,
  [
    // In the table of clock.
    root.findError,
    // Errors; those of `wait` are in its table.
    ...[redisLock.ForgottenLeaseError, root.LeadershipLostError, root.LockConflictError],
    ...[root.RetryAfterError, root.TerminalError],
    // Takes no arguments, or what the controller makes.
    root.MemoryLock,
    // Of an operator, in the table of kubernetes.
    "RECORDING_OPTIONS",
  ],
);

it("treats an explicit undefined as a missing option", () => {
  const undef = undefined;
  expect(() => {
    new root.WorkQueue({ name: undef, keyOf: undef, limiter: undef, clock: undef, metrics: undef });
    new root.ExponentialLimiter({ duration: undef, cap: undef, random: undef });
    new root.MaxOfLimiter([exponential], { jitter: undef, clock: undef });
    new root.Manager({ groups: undef, signals: undef, clock: undef, logger: undef });
    new root.Manager({ groups: [{ name: "a", startTimeout: undef, stopTimeout: undef }] });
    new root.Manager().add(idle, { group: undef });
    queue.add("a", { after: undef, priority: undef });
  }).not.toThrow();
});

it("suggests workers to a controller with concurrency", () => {
  const options = { name: "a", reconcile: f, clock, concurrency: 4 };
  expect(() => new root.Controller(options)).toThrow(
    "options.concurrency is not an option of Controller; did you mean options.workers?",
  );
});
