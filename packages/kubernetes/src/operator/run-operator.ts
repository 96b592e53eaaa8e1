import {
  Controller,
  type ControllerArguments,
  LeaderElector,
  Manager,
  type Reconciler,
  type Runnable,
  type Shards,
} from "@holdfast/controller";
import { Recorder, type RecordingOptions, Tape } from "@holdfast/controller/recording";
import { requireFunction, requireOptions, requireSignal, requireText } from "@holdfast/kit";
import { versionOf } from "@holdfast/kit/node";
import { KubeClient } from "../client/kube-client.ts";
import { Cluster } from "../cluster/cluster.ts";
import { EventRecorder } from "../helper/event-recorder.ts";
import { foldRequests } from "../transport/fold-requests.ts";
import { RecordedTransport } from "../transport/recorded-transport.ts";
import { crdCheck } from "./crd-check.ts";
import { type OperatorControllerArguments, recordFailures } from "./failure-events.ts";
import { canElect, isFollowing, isWithinLease } from "./health-checks.ts";
import { type HealthChecks, HealthServer } from "./health-server.ts";
import {
  type OperatorContext,
  type OperatorOptions,
  type ResolvedElection,
  type ResolvedOperator,
  resolveOperator,
  type StartWork,
} from "./operator-options.ts";
import { afterCatchUp, leasesOf, shardsOf } from "./operator-shards.ts";
import { OperatorWebhooks } from "./operator-webhooks.ts";
import { TermWork } from "./term-work.ts";

/** The package whose version a recording has. */
const KUBERNETES = "@holdfast/kubernetes";

/** Time to stop of parts that need hardly any, in milliseconds. */
const SHORT = 1_000;

/** Time to stop of the event recorder: it flushes for 2 s. */
const EVENTS = 3_000;

/**
 * Time of the work to release its lease, in milliseconds. With the times above, and the second that a manager adds to a
 * group, controllers with their default times stop within the 28 s of a manager.
 */
const RELEASE = 2_000;

/** The parts of an operator. */
interface Parts {
  readonly options: ResolvedOperator;
  readonly cluster: Cluster;
  /** A client without the check of the lease. */
  readonly client: KubeClient;
  readonly start: StartWork;
  readonly work: TermWork;
  readonly webhooks: OperatorWebhooks | undefined;
}

/**
 * Runs an operator: probes, caches, Events, and the controllers of the leader.
 *
 * | Order | Group | Ready when |
 * | --- | --- | --- |
 * | 1 | `servers` | the port is open |
 * | 2 | `webhooks` | the port is open, with a certificate that every configuration trusts |
 * | 3 | `caches` | every informer has synced, or its lists have failed for 15 s |
 * | 4 | `events` | at once |
 * | 5 | `work` | at once: it campaigns, and works when it leads; or it takes slots, and works on their keys |
 *
 * It stops in the opposite order: controllers finish their keys, the lease is given back, Events are sent,
 * watches and probes end. This takes at most the `grace` plus the `abortGrace` of the slowest controller plus 8 s, also if the
 * API server is away: 28 s by default, which fit into the 30 s that Kubernetes grants. Raise
 * `terminationGracePeriodSeconds` with the times of a controller. With `webhooks` a stop begins with their `drain`: their
 * server ends before anything else does, within 16 s by default.
 *
 * A kind whose lists fail holds up only what reads it: a controller with a source of it starts when its first list is
 * complete, reads of its informer throw until then, and an informer that has synced before keeps its objects.
 *
 * `setup` declares informers, once. The function that it returns makes controllers, once per term, after
 * the caches have caught up with the last writes of the leader before. A standby has warm caches, is ready and
 * healthy. A lost lease aborts the work at once; the process continues and campaigns again.
 *
 * With `shards` every replica works, each on the keys of its slots, and makes its controllers once. A slot comes after the
 * caches have caught up, goes after its keys in flight are finished, and a lost one aborts these at once.
 *
 * | Probe | Fails while |
 * | --- | --- |
 * | `/readyz` | the start is not over; an informer has not synced, is refused (403, 404), or has had no living watch for 15 minutes; the lock has not answered for a lease. With `webhooks` these are shown and do not count, but: the port of the webhooks is closed, their certificate is not trusted, or they drain |
 * | `/healthz` | work continues although its lease has expired |
 *
 * @param options - see {@link OperatorOptions}
 * @param signal - stops the operator. Default: only `signals` do
 * @returns a promise that resolves after the stop. No request, timer or listener is left. It rejects with an
 * AggregateError of `RunnableError`s if a part fails, ends early or does not stop in time, with the error of
 * `setup`, and with a TypeError or RangeError for a bad option
 *
 * Source: `manager.Manager` of sigs.k8s.io/controller-runtime.
 *
 * @example
 * ```ts no-run
 * import { builtIn, inCluster, type KubeObject, runOperator } from "@holdfast/kubernetes";
 *
 * const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
 * await runOperator({
 *   name: "auditor",
 *   transport: inCluster(),
 *   signals: process,
 *   setup({ cluster, controller }) {
 *     const settings = cluster.watch(ConfigMap);
 *     return () => [
 *       controller({
 *         name: "auditor",
 *         sources: [settings.source()],
 *         reconcile: ({ key }) => console.log(key, settings.get(key)?.metadata.resourceVersion),
 *       }),
 *     ];
 *   },
 * });
 * ```
 */
export async function runOperator(options: OperatorOptions, signal?: AbortSignal): Promise<void> {
  const resolved = resolveOperator(options);
  if (signal !== undefined) requireSignal("signal", signal);
  if (resolved.recording !== undefined) await runRecorded(resolved, resolved.recording, signal);
  else await run(resolved, (system) => system, signal);
}

/** Runs an operator whose time, randomness, requests and signals pass the seams of a tape. */
async function runRecorded(
  operator: ResolvedOperator,
  recording: RecordingOptions | Tape,
  signal: AbortSignal | undefined,
): Promise<void> {
  const tape =
    recording instanceof Tape ? recording : recorderOf(operator, recording, signal !== undefined);
  const redact = "directory" in recording ? recording.redact : undefined;
  const transport = new RecordedTransport(tape, operator.transport, redact);
  await tape.run(async () => {
    const signals = operator.signals && tape.signals(operator.signals);
    const { clock, random, link } = tape;
    using stop = signal && tape.stop(signal);
    await run({ ...operator, transport, signals, clock, random }, link, stop?.signal);
  });
}

function recorderOf(
  operator: ResolvedOperator,
  recording: RecordingOptions,
  hasSignal: boolean,
): Recorder {
  const { name, identity, clock, logger, random, leaderElection, shards, compareCrds } = operator;
  const { description, namespace } = operator.transport;
  const { backoff, ...cluster } = operator.cluster ?? {};
  const program = {
    ...{ description, namespace, leaderElection, shards, compareCrds, cluster },
    hasBackoff: backoff !== undefined,
    hasHealth: operator.health !== false,
    hasSignals: operator.signals !== undefined,
    hasSignal,
  };
  const library = { [KUBERNETES]: versionOf(KUBERNETES, import.meta.url) };
  return new Recorder({
    ...{ name, identity, recording, clock, logger, random },
    program,
    library,
    fold: foldRequests,
  });
}

/** @param link - see `link` of {@link OperatorContext} */
async function run(
  resolved: ResolvedOperator,
  link: OperatorContext["link"],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { name, transport, setup, identity, clock, random, logger, metrics } = resolved;
  const common = { clock, random, logger };
  const work = new TermWork(common);
  const target = { transport, fieldManager: name, metrics, ...common };
  const cluster = new Cluster(
    { ...resolved.cluster, ...target },
    { beforeWrite: work.requireLease },
  );
  const { client } = cluster;
  // Its writes are those that a process without a lease may send: of its Lease, and of Events after a stop.
  const free = new KubeClient({ transport, fieldManager: name, metrics, ...common });
  const events = new EventRecorder({
    client: free,
    controller: name,
    instance: identity,
    ...common,
  });
  const controller = controllersOf(resolved, events, work);
  const context = { cluster, client, events, identity, metrics, controller, link, ...common };
  const start = await setup(context);
  requireFunction("the result of options.setup", start);
  metrics?.informers(() => cluster.status().informers);

  const seen = { client, cluster, clock, logger };
  const webhooks = resolved.webhooks && new OperatorWebhooks(resolved, resolved.webhooks, seen);
  const parts: Parts = { options: resolved, cluster, client: free, start, work, webhooks };
  const manager = managerOf(resolved, webhooks);
  const { leaderElection, shards: slots } = resolved;
  const elector = leaderElection === false ? undefined : electorOf(parts, leaderElection);
  const shards = slots && shardsOf(resolved, slots, free);
  const server = serverOf(parts, manager, elector ?? shards);
  if (server !== undefined) manager.add(link(server, "health server"), { group: "servers" });
  manager.add(cachesOf(cluster), { group: "caches" });
  manager.add(events, { group: "events" });
  if (resolved.compareCrds)
    manager.add(crdCheck({ cluster, client: free, logger }), { group: "events" });
  manager.add(workOf(parts, elector, shards), { group: "work" });
  if (shards !== undefined) manager.add(slotsOf(parts, shards), { group: "work" });
  await manager.run(signal);
}

function controllersOf(
  operator: ResolvedOperator,
  events: EventRecorder,
  work: TermWork,
): OperatorContext["controller"] {
  const { clock, random, logger, metrics, shards } = operator;
  return <Item>(options: OperatorControllerArguments<Item>) => {
    requireOptions("options", options);
    const { failureEvents, ...own } = options as OperatorControllerArguments<never>;
    const { name } = own;
    requireText("options.name", name);
    const recorder = { events, clock: own.clock ?? clock };
    const hooked = failureEvents ? recordFailures(own, failureEvents, recorder) : own;
    const all = {
      clock,
      random,
      logger,
      metrics: metrics?.controller(name),
      queueMetrics: metrics?.queue(name),
      ...(hooked as unknown as ControllerArguments<Item>),
    };
    const { reconcile } = all;
    if (shards === undefined || typeof reconcile !== "function") return new Controller<Item>(all);
    const underSlot: Reconciler<Item> = (request) =>
      work.underSlot(request.leadership, () => reconcile(request));
    return new Controller<Item>({ ...all, reconcile: underSlot });
  };
}

function managerOf(
  { signals, clock, logger }: ResolvedOperator,
  webhooks: OperatorWebhooks | undefined,
): Manager {
  const ofWebhooks = webhooks && { stopTimeout: webhooks.stopTimeout + SHORT };
  const startTimeout = Number.POSITIVE_INFINITY;
  const groups = [
    { name: "servers", stopTimeout: SHORT },
    // Their server ends with the group "drain"; if a stop comes before it has begun, with this one.
    ...(ofWebhooks ? [{ name: "webhooks", startTimeout, ...ofWebhooks }] : []),
    { name: "caches", startTimeout, stopTimeout: SHORT },
    { name: "events", stopTimeout: EVENTS },
    { name: "work" }, // as long as its controllers need
    ...(ofWebhooks ? [{ name: "drain", ...ofWebhooks }] : []),
  ];
  // The sum of these times, which depends on the controllers of the term; see the docstring of `runOperator`.
  const stopTimeout = Number.POSITIVE_INFINITY;
  const manager = new Manager({ groups, signals, clock, logger, stopTimeout });
  if (webhooks === undefined) return manager;
  manager.add(webhooks.serving, { group: "webhooks" });
  manager.add(webhooks.draining, { group: "drain" });
  return manager;
}

/** The caches of an operator. A kind that cannot be listed holds up only what reads it. */
function cachesOf(cluster: Cluster): Runnable {
  return {
    name: cluster.name,
    run: (signal, options) => cluster.run(signal, options),
    ready: (signal) => cluster.settled(signal),
  };
}

/** The work of an operator, with the time that its controllers, and the release of the lease, need to stop. */
function workOf(
  { options, work, start, cluster }: Parts,
  elector: LeaderElector | undefined,
  shards: Shards | undefined,
): Runnable {
  const { leaderElection } = options;
  const release = leaderElection === false ? 0 : RELEASE;
  const lost = new AbortController().signal;
  return {
    name: elector?.name ?? "work",
    get stopTimeout() {
      return work.stopTimeout + release;
    },
    run: (signal, own) => {
      if (elector !== undefined) return elector.run(signal, own);
      // Work without an election is one term, which is never lost.
      const always = { token: 0, signal, lost, isHeld: true };
      return work.run(start, always, shards && afterCatchUp(shards, cluster, signal));
    },
  };
}

/** The slots, with the time that the keys in flight, and the release of the leases, need to stop. */
function slotsOf({ work }: Parts, shards: Shards): Runnable {
  return {
    name: shards.name,
    get stopTimeout() {
      return work.stopTimeout + RELEASE;
    },
    run: (signal, own) => shards.run(signal, own),
  };
}

function electorOf(
  { options, cluster, client, start, work }: Parts,
  election: ResolvedElection,
): LeaderElector {
  const { lockOf, candidate } = leasesOf(options, election, client);
  const elector = new LeaderElector({
    lock: lockOf(election.name),
    ...candidate,
    lead: async (leadership) => {
      // The previous leader may have written objects that these caches have not seen.
      await cluster.catchUp(leadership.signal);
      await work.run(start, leadership);
    },
  });
  options.metrics?.leadership(options.name, elector);
  return elector;
}

function serverOf(
  { options, cluster, webhooks }: Parts,
  manager: Manager,
  candidate: LeaderElector | Shards | undefined,
): HealthServer | undefined {
  const { health, leaderElection, shards, logger } = options;
  if (health === false) return undefined;
  const started = { started: () => manager.status().state === "running" };
  const checks = { live: {}, ready: { ...started, ...informerChecks(cluster) } };
  const leases = leaderElection === false ? shards : leaderElection;
  if (candidate !== undefined && leases !== undefined) {
    const { leaseDuration } = leases;
    const check = shards === undefined ? "leader election" : "shards";
    Object.assign(checks.live, { lease: () => isWithinLease(candidate.status()) });
    Object.assign(checks.ready, { [check]: () => canElect(candidate.status(), leaseDuration) });
  }
  const live = { ...checks.live, ...health.live };
  if (webhooks === undefined) {
    const ready = { ...checks.ready, ...health.ready };
    return new HealthServer({ ...health, live, ready, logger });
  }
  // Informers of a kind that the operator converts sync only when its webhooks are called.
  const ready = { webhooks: () => webhooks.isReady, ...health.ready };
  return new HealthServer({ ...health, live, ready, shown: checks.ready, logger });
}

/** A check for each resource that the setup watches. */
function informerChecks(cluster: Cluster): HealthChecks {
  const { informers } = cluster.status();
  const resources = [...new Set(informers.map(({ resource }) => resource))];
  const check = (resource: string) => (): boolean =>
    cluster.status().informers.every((one) => one.resource !== resource || isFollowing(one));
  return Object.fromEntries(resources.map((name) => [`informer ${name}`, check(name)]));
}
