import { type MetricSink, requireText } from "@holdfast/kit";
import type { ControllerMetrics } from "../controller-metrics.ts";
import type { QueueMetrics } from "../queue/work-queue-options.ts";
import { ControllerFamilies } from "./controller-families.ts";
import { type Candidate, LeadershipGauge } from "./leadership-gauge.ts";
import { QueueFamilies } from "./queue-families.ts";
import { type ShardedProcess, ShardFamilies } from "./shard-families.ts";

/**
 * The metrics of queues, controllers, electors and slots, wherever they go: `PrometheusMetrics` has them in a
 * registry of prom-client, `OpenTelemetryMetrics` in a meter of OpenTelemetry. The names, units and buckets are those
 * of client-go and controller-runtime, so that their dashboards work.
 *
 * | Metric | Labels | |
 * | --- | --- | --- |
 * | `workqueue_depth` | `name`, `controller`, `priority` | keys that are queued |
 * | `workqueue_adds_total` | `name`, `controller` | keys that were queued |
 * | `workqueue_retries_total` | `name`, `controller` | keys that were added with a delay |
 * | `workqueue_queue_duration_seconds` | `name`, `controller` | from queued to taken |
 * | `workqueue_work_duration_seconds` | `name`, `controller` | from taken to done |
 * | `workqueue_unfinished_work_seconds` | `name`, `controller` | age of all work in flight |
 * | `workqueue_longest_running_processor_seconds` | `name`, `controller` | age of the oldest |
 * | `controller_runtime_reconcile_total` | `controller`, `result` | reconciles that have ended |
 * | `controller_runtime_reconcile_errors_total` | `controller` | of these, failed |
 * | `controller_runtime_terminal_reconcile_errors_total` | `controller` | of these, not retried |
 * | `controller_runtime_reconcile_timeouts_total` | `controller` | reconciles whose timeout expired, with any result |
 * | `controller_runtime_reconcile_time_seconds` | `controller` | how long they took |
 * | `controller_runtime_max_concurrent_reconciles` | `controller` | workers |
 * | `controller_runtime_active_workers` | `controller` | busy workers |
 * | `leader_election_master_status` | `name` | 1 if this process leads |
 * | `shards_slots` | `name`, `state` | slots that are `held`, of these `giving`; `wanted` from another process; `free` as last seen |
 * | `shards_taken_total` | `name` | slots that this process has taken |
 *
 * Keys are never labels. `result` is `success`, `requeue_after`, `error` or, when the controller
 * stopped it, `interrupted`. Of the priorities of a queue 25 have a label of their own, and the rest
 * share `exceeded_cardinality_limit`.
 *
 * @remarks Source: pkg/metrics of sigs.k8s.io/controller-runtime, and k8s.io/component-base/metrics.
 * Ages are computed at each scrape, not every 500 ms. There is no `reconcile_panics_total`: anything
 * thrown is an error.
 */
export abstract class ProgramMetrics {
  readonly #queues: QueueFamilies;
  readonly #controllers: ControllerFamilies;
  readonly #leadership: LeadershipGauge;
  readonly #shards: ShardFamilies;

  /** @internal */
  constructor(sink: MetricSink) {
    this.#queues = new QueueFamilies(sink);
    this.#controllers = new ControllerFamilies(sink);
    this.#leadership = new LeadershipGauge(sink);
    this.#shards = new ShardFamilies(sink);
  }

  /**
   * The option `metrics` of a `WorkQueue`.
   *
   * A name belongs to one queue. A later queue takes it over: counters continue, and the numbers of
   * queued and in-flight keys are those of the later queue.
   *
   * @param name - the labels `name` and `controller`. One for each queue, never derived from keys
   * @returns metrics for one queue
   * @throws TypeError if the name is not a string, RangeError if it is empty
   */
  queue(name: string): QueueMetrics {
    requireText("name", name);
    return this.#queues.queue(name);
  }

  /**
   * The option `metrics` of a `Controller`.
   *
   * @param name - the label `controller`
   * @returns metrics for one controller
   * @throws TypeError if the name is not a string, RangeError if it is empty
   */
  controller(name: string): ControllerMetrics {
    requireText("name", name);
    return this.#controllers.controller(name);
  }

  /**
   * Reports whether an elector leads, read at each scrape.
   *
   * @param name - the label `name`: the lock or the job. A later elector takes it over
   * @param candidate - a `LeaderElector`, or any object with `isLeader`
   * @throws TypeError if the name is not a string, RangeError if it is empty
   */
  leadership(name: string, candidate: Candidate): void {
    requireText("name", name);
    this.#leadership.watch(name, candidate);
  }

  /**
   * Reports the slots of a process, read at each scrape.
   *
   * @param name - the label `name`. Later shards take it over
   * @param shards - a `Shards`
   * @throws TypeError if the name is not a string, RangeError if it is empty
   */
  shards(name: string, shards: ShardedProcess): void {
    requireText("name", name);
    this.#shards.watch(name, shards);
  }
}
