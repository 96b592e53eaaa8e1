import { FakeClock } from "@holdfast/clock/testing";
import * as root from "@holdfast/controller";
import {
  Controller,
  ExponentialLimiter,
  FastSlowLimiter,
  filterSource,
  fromCallback,
  fromIterable,
  fromObservable,
  LeaderElector,
  LeadershipLostError,
  LockConflictError,
  Manager,
  MaxOfLimiter,
  MemoryLock,
  mapSource,
  RetryAfterError,
  RunnableError,
  resync,
  Shards,
  slotOf,
  TerminalError,
  TokenBucketLimiter,
  WorkQueue,
} from "@holdfast/controller";
import * as fileLock from "@holdfast/controller/file-lock";
import { FileLock } from "@holdfast/controller/file-lock";
import * as mysqlLock from "@holdfast/controller/mysql-lock";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import * as opentelemetry from "@holdfast/controller/opentelemetry";
import { OpenTelemetryMetrics, traced } from "@holdfast/controller/opentelemetry";
import * as postgresLock from "@holdfast/controller/postgres-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import * as prometheus from "@holdfast/controller/prometheus";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { openRecording } from "@holdfast/controller/recording";
import * as redisLock from "@holdfast/controller/redis-lock";
import { ForgottenLeaseError, RedisLock } from "@holdfast/controller/redis-lock";
import type { Kinds } from "@holdfast/kit";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  all,
  arrayOf,
  constructs,
  type Door,
  delay,
  except,
  fields,
  finite,
  func,
  type Kind,
  method,
  methods,
  named,
  optionsOf,
  outside,
  rejects,
  required,
  signal,
  string,
  testBadInput,
  testEveryExport,
  text,
  throws,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";
import { CONTROLLER_OPTIONS } from "../src/controller/controller-options.ts";
import { ENQUEUE_OPTIONS } from "../src/controller/workers.ts";
import { LEADER_ELECTOR_OPTIONS } from "../src/election/leader-elector-options.ts";
import { FILE_LOCK_OPTIONS } from "../src/file-lock/file-lock.ts";
import { EXPONENTIAL_LIMITER_OPTIONS } from "../src/limit/exponential-limiter.ts";
import { FAST_SLOW_LIMITER_OPTIONS } from "../src/limit/fast-slow-limiter.ts";
import { MAX_OF_LIMITER_OPTIONS } from "../src/limit/max-of-limiter.ts";
import { TOKEN_BUCKET_LIMITER_OPTIONS } from "../src/limit/token-bucket-limiter.ts";
import { ADD_RUNNABLE_OPTIONS } from "../src/manager/manager.ts";
import { GROUP_OPTIONS, MANAGER_OPTIONS } from "../src/manager/manager-options.ts";
import { RUNNABLE_ERROR_OPTIONS } from "../src/manager/runnable-error.ts";
import { OPEN_TELEMETRY_METRICS_OPTIONS } from "../src/opentelemetry/open-telemetry-metrics.ts";
import { TRACED_OPTIONS } from "../src/opentelemetry/traced.ts";
import { POSTGRES_LOCK_OPTIONS } from "../src/postgres-lock/postgres-lock.ts";
import { PROMETHEUS_METRICS_OPTIONS } from "../src/prometheus/prometheus-metrics.ts";
import { DRAIN_OPTIONS, RETRY_OPTIONS } from "../src/queue/work-queue.ts";
import { ADD_OPTIONS, WORK_QUEUE_OPTIONS } from "../src/queue/work-queue-options.ts";
import { REDIS_LOCK_OPTIONS } from "../src/redis-lock/redis-lock.ts";
import { RUN_OPTIONS } from "../src/run-options.ts";
import { SHARDS_OPTIONS } from "../src/shards/shards-options.ts";
import { RESYNC_OPTIONS } from "../src/source/resync.ts";
import { SQL_LOCK_OPTIONS } from "../src/sql-lock/sql-lock.ts";

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const queue = new WorkQueue({ clock });
const manager = new Manager({ clock, groups: [{ name: "a" }, { name: "b" }] });
const idle = { name: "idle", run: () => Promise.resolve() };
manager.add(idle);
const controller = new Controller({ name: "controller", reconcile: f, clock });
const electing = { lock: new MemoryLock(), identity: "a", lead: f, clock };
const elector = new LeaderElector(electing);
const sharding = { identity: "a", lockOf: () => new MemoryLock(), lead: f, clock };
const shards = new Shards(sharding);
const metrics = new PrometheusMetrics({ register: new Registry() });
const source = { name: "source", start: f };

const limiter = methods("when", "forget", "requeues");
const key = named("the key of an item", required(string));
const tableError = (path: string, got: string): string =>
  `RangeError: ${path} must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got ${got}`;

/** A part of SQL that is never quoted. */
const table: Kind = (path, valid) => [
  ...string(path, valid),
  ...["", "Lock", "1a", "a-b", "a.b.c", "a.", 'a"; DROP TABLE b; --', "$$", "x".repeat(64)].map(
    (value) => ({ path, value, error: tableError(path, JSON.stringify(value.slice(0, 60))) }),
  ),
];

/** A text that a database stores unchanged. */
const stored: Kind = (path, valid) => [
  ...["a\0b", "a\ud800b"].flatMap((value) =>
    except(value, `RangeError: ${path} must be well-formed Unicode without NUL`)(path, valid),
  ),
  ...except("ü".repeat(128), `RangeError: ${path} must be at most 255 bytes of UTF-8, got 256`)(
    path,
    valid,
  ),
];

const finiteAbove0 = all(finite, outside("a number above 0", 0, -1));
const own = {
  delay,
  interval: finiteAbove0,
  sources: arrayOf(methods("start")),
  leadership: unchecked,
  slotCount: all(whole(1), outside("a number from 1 to 1024", 1_025)),
  lockName: all(text, stored),
  tableName: table,
  leaseDuration: all(
    finite,
    except(
      10_000,
      "RangeError: options.leaseDuration must be above options.renewDeadline (10000), got 10000",
    ),
  ),
  renewDeadline: all(
    finite,
    except(
      2_400,
      "RangeError: options.renewDeadline must be above 1.2 times options.retryPeriod (2400), got 2400",
    ),
  ),
  retryPeriod: finiteAbove0,
  group: except("c", 'RangeError: options.group must be "a" or "b", got "c"'),
  groups: all(
    arrayOf(optionsOf(GROUP_OPTIONS)),
    except([], "RangeError: options.groups must contain at least one group, got none"),
    except(
      [{ name: "a" }, { name: "a" }],
      'RangeError: options.groups must have unique names, got "a" twice',
    ),
  ),
};
const options = <Type extends object>(kinds: Kinds<Type>): Kind => optionsOf(kinds, own);
const bounds = { fast: 1, slow: 2, maxFast: 3, clock };

const queueDoors: Door[] = [
  constructs(WorkQueue, [{ clock }], ["options", options(WORK_QUEUE_OPTIONS)]),
  method(queue, "add", "throws", ["a"], ["item", key], ["options", options(ADD_OPTIONS)]),
  method(queue, "retry", "throws", ["a"], ["item", key], ["options", options(RETRY_OPTIONS)]),
  method(queue, "get", "rejects", [live], ["signal", signal]),
  method(queue, "idle", "rejects", [live], ["signal", signal]),
  method(queue, "drain", "rejects", [{ signal: live }], ["options", options(DRAIN_OPTIONS)]),
];

const tokens = new TokenBucketLimiter({ qps: 1, burst: 1, clock });
const exponential = new ExponentialLimiter({ clock });
const counting = [
  exponential,
  new FastSlowLimiter(bounds),
  tokens,
  new MaxOfLimiter([exponential], { clock }),
];

const limiterDoors: Door[] = [
  constructs(ExponentialLimiter, [{ clock }], ["options", options(EXPONENTIAL_LIMITER_OPTIONS)]),
  constructs(FastSlowLimiter, [bounds], ["options", required(options(FAST_SLOW_LIMITER_OPTIONS))]),
  constructs(
    TokenBucketLimiter,
    [{ qps: 1, burst: 1, clock }],
    ["options", required(options(TOKEN_BUCKET_LIMITER_OPTIONS))],
  ),
  method(tokens, "acquire", "rejects", [live], ["signal", signal]),
  ...counting.map((each) =>
    method(each, "when", "throws", ["a"], ["key", unchecked], ["after", delay]),
  ),
  constructs(
    MaxOfLimiter,
    [[new ExponentialLimiter()], { clock }],
    [
      "limiters",
      all(
        required(arrayOf(limiter)),
        except([], "RangeError: limiters must contain at least one limiter"),
      ),
    ],
    ["options", options(MAX_OF_LIMITER_OPTIONS)],
  ),
];

const sourceDoors: Door[] = [
  throws(fromCallback, ["a", f], ["name", unchecked], ["subscribe", required(func)]),
  throws(fromIterable, ["a", f], ["name", unchecked], ["open", required(func)]),
  throws(
    fromObservable,
    ["a", { subscribe: f }],
    ["name", unchecked],
    ["observable", required(methods("subscribe"))],
  ),
  throws(filterSource, [source, f], ["source", unchecked], ["isWanted", required(func)]),
  throws(mapSource, [source, f], ["source", unchecked], ["targetsOf", required(func)]),
  throws(resync, [{ list: f, interval: 1 }], ["options", required(options(RESYNC_OPTIONS))]),
];

const controllerDoors: Door[] = [
  constructs(
    Controller,
    [{ name: "a", reconcile: f, clock }],
    ["options", required(options(CONTROLLER_OPTIONS))],
  ),
  method(controller, "add", "throws", ["a"], ["item", key], ["options", options(ENQUEUE_OPTIONS)]),
  method(
    controller,
    "addSource",
    "throws",
    [source, live],
    ["source", required(methods("start"))],
    ["signal", signal],
  ),
  method(
    controller,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    ["options", options(RUN_OPTIONS)],
  ),
];

const batch = new Controller({ name: "batch", reconcile: f, clock });
const batchDoors: Door[] = [
  method(
    batch,
    "runUntilIdle",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    ["options", options(RUN_OPTIONS)],
  ),
];

const electionDoors: Door[] = [
  constructs(LeaderElector, [electing], ["options", required(options(LEADER_ELECTOR_OPTIONS))]),
  method(
    elector,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    ["options", options(RUN_OPTIONS)],
  ),
  throws(
    slotOf,
    ["a", 16],
    ["key", required(text)],
    ["count", required(all(whole(1), outside("a number from 1 to 1024", 1_025)))],
  ),
  constructs(Shards, [sharding], ["options", required(options(SHARDS_OPTIONS))]),
  throws((key: string) => shards.slotOf(key), ["a"], ["key", required(text)]),
  method(
    shards,
    "run",
    "rejects",
    [live, {}],
    ["signal", required(signal)],
    ["options", options(RUN_OPTIONS)],
  ),
  constructs(
    FileLock,
    ["directory", {}],
    ["directory", required(text)],
    ["options", options(FILE_LOCK_OPTIONS)],
  ),
  constructs(
    PostgresLock,
    [{ query: async () => ({ rows: [] }) }, { name: "a" }],
    ["client", required(methods("query"))],
    ["options", required(options(POSTGRES_LOCK_OPTIONS))],
  ),
  throws(postgresLock.createTableSql, [], ["table", table]),
  constructs(
    MySqlLock,
    [{ execute: async () => [[], undefined] }, { name: "a" }],
    ["client", required(methods("execute"))],
    ["options", required(options(SQL_LOCK_OPTIONS))],
  ),
  throws(mysqlLock.createTableSql, [], ["table", table]),
  constructs(
    RedisLock,
    [{ eval: async () => undefined }, { key: "key" }],
    ["client", required(methods("eval"))],
    ["options", required(options(REDIS_LOCK_OPTIONS))],
  ),
];

const managerDoors: Door[] = [
  constructs(Manager, [{ groups: [{ name: "a" }], clock }], ["options", options(MANAGER_OPTIONS)]),
  method(
    manager,
    "add",
    "throws",
    [{ ...idle, name: "other" }],
    [
      "runnable",
      all(
        required(methods("run")),
        fields({
          name: all(
            required(text),
            except("idle", 'RangeError: runnable.name must be unique, got "idle" twice'),
          ),
        }),
      ),
    ],
    ["options", options(ADD_RUNNABLE_OPTIONS)],
  ),
  method(
    manager,
    "run",
    "rejects",
    [live, {}],
    ["signal", signal],
    ["options", options(RUN_OPTIONS)],
  ),
];

const observing: Door[] = [
  constructs(
    PrometheusMetrics,
    [{ register: new Registry() }],
    ["options", options(PROMETHEUS_METRICS_OPTIONS)],
  ),
  constructs(
    OpenTelemetryMetrics,
    [{ meter: newMeter().meter }],
    ["options", required(options(OPEN_TELEMETRY_METRICS_OPTIONS))],
  ),
  method(metrics, "queue", "throws", ["a"], ["name", required(text)]),
  method(metrics, "controller", "throws", ["a"], ["name", required(text)]),
  method(
    metrics,
    "leadership",
    "throws",
    ["a", elector],
    ["name", required(text)],
    ["candidate", unchecked],
  ),
  throws(
    traced,
    [f, { tracer: { startActiveSpan: f } }],
    ["reconcile", required(func)],
    ["options", required(options(TRACED_OPTIONS))],
  ),
];

const errorDoors = [
  constructs(
    RunnableError,
    ["web", "failed"],
    ["runnable", unchecked],
    ["problem", unchecked],
    ["options", options(RUNNABLE_ERROR_OPTIONS)],
  ),
];

const doors = [
  ...errorDoors,
  ...queueDoors,
  ...limiterDoors,
  ...sourceDoors,
  ...controllerDoors,
  ...batchDoors,
  ...electionDoors,
  ...managerDoors,
  rejects(openRecording, ["a", "b"], ["path", required(text)], ["identity", text]),
  ...observing,
];

testBadInput(doors, () => {
  expect(manager.status()).toEqual({
    state: "idle",
    runnables: [{ name: "idle", group: "b", state: "waiting" }],
  });
  expect([queue.size, queue.delayed, queue.isShutDown]).toEqual([0, 0, false]);
  expect([controller.status().state, controller.status().queue.size]).toEqual(["idle", 0]);
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

testEveryExport(
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
    // Guards answer for every value.
    // Errors; those of `wait` are in its table.
    ForgottenLeaseError,
    LeadershipLostError,
    LockConflictError,
    RetryAfterError,
    TerminalError,
    // Takes no arguments, or what the controller makes.
    MemoryLock,
  ],
);

it("treats an explicit undefined as a missing option", () => {
  const undef = undefined;
  expect(() => {
    new WorkQueue({ name: undef, keyOf: undef, limiter: undef, clock: undef, metrics: undef });
    new ExponentialLimiter({ duration: undef, cap: undef, random: undef });
    new MaxOfLimiter([exponential], { jitter: undef, clock: undef });
    new Manager({ groups: undef, signals: undef, clock: undef, logger: undef });
    new Manager({ groups: [{ name: "a", startTimeout: undef, stopTimeout: undef }] });
    new Manager().add(idle, { group: undef });
    queue.add("a", { after: undef, priority: undef });
  }).not.toThrow();
});

it("suggests workers to a controller with concurrency", () => {
  const options = { name: "a", reconcile: f, clock, concurrency: 4 };
  expect(() => new Controller(options)).toThrow(
    "options.concurrency is not an option of Controller; did you mean options.workers?",
  );
});
