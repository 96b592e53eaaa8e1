import { hostname } from "node:os";
import { type Clock, realClock } from "@holdfast/clock";
import type {
  Controller,
  LeaderElectorOptions,
  Leadership,
  Logger,
  Runnable,
  ShardsOptions,
  SignalSource,
} from "@holdfast/controller";
import { RECORDING_OPTIONS, type RecordingOptions, Tape } from "@holdfast/controller/recording";
import {
  flag,
  func,
  type Kinds,
  kind,
  loopClock,
  methods,
  parsed,
  read,
  requireBetween,
  requireDurations,
  required,
  requireWhole,
  text,
  uuidFrom,
} from "@holdfast/kit";

import { namespaceName, requireNamespace, requireSegment } from "@holdfast/kit/kubernetes";

import type { Random } from "@holdfast/wait";
import type { KubeClient } from "../client/kube-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type ClusterOptions, FOLLOWING_OPTIONS } from "../cluster/cluster-options.ts";
import type { EventRecorder } from "../helper/event-recorder.ts";
import { anyLogger } from "../kinds.ts";
import { programLogger } from "../logger.ts";
import type { KubeTransport } from "../transport/kube-transport.ts";
import { readWebhooks, type WebhooksOptions } from "../webhook/webhooks-options.ts";
import type { OperatorControllerArguments } from "./failure-events.ts";
import { HEALTH_OPTIONS, type HealthServerOptions } from "./health-server.ts";
import { OPERATOR_METRICS, type OperatorMetrics } from "./operator-metrics.ts";

export const OPERATOR_ELECTION_OPTIONS: Kinds<OperatorElectionOptions> = {
  leaseDuration: parsed("leaseDuration"),
  renewDeadline: parsed("renewDeadline"),
  retryPeriod: parsed("retryPeriod"),
  namespace: parsed("namespaceName"),
  name: parsed("segment"),
};

export const OPERATOR_SHARDS_OPTIONS: Kinds<OperatorShardsOptions> = {
  count: kind("slotCount", requireSlotCount),
  ...OPERATOR_ELECTION_OPTIONS,
};

export const OPERATOR_OPTIONS: Kinds<OperatorOptions> = {
  name: required(namespaceName),
  transport: required(methods("send")),
  setup: required(func),
  leaderElection: parsed("leaderElection"),
  shards: parsed("shards"),
  health: kind("health", requireHealth),
  cluster: kind("following", (path, options: NonNullable<OperatorOptions["cluster"]>) =>
    read(path, options, "runOperator", FOLLOWING_OPTIONS),
  ),
  compareCrds: flag,
  webhooks: kind("webhooks", (path, options: WebhooksOptions) => readWebhooks(path, options)),
  signals: methods("on", "off", "exit"),
  identity: text,
  clock: loopClock,
  random: func,
  logger: anyLogger,
  metrics: methods(...OPERATOR_METRICS),
  recording: kind("recording", requireRecording),
};

/** Most slots, as of `Shards`. */
const SLOTS = 1_024;

/** All that the code of an operator needs. */
export interface OperatorContext {
  /** Declares informers. */
  readonly cluster: Cluster;

  /** Client of the cluster: its informers see a write before the call resolves. */
  readonly client: KubeClient;

  /** Records Events about objects. */
  readonly events: EventRecorder;

  /** Name of the process: host and a UUID. */
  readonly identity: string;

  /** Clock of the operator. */
  readonly clock: Clock;

  /** Source of jitter. Undefined for `Math.random`. */
  readonly random: Random | undefined;

  /** Receiver of log lines. */
  readonly logger: Logger;

  /** Metrics of {@link OperatorOptions}. Undefined if there are none. */
  readonly metrics: OperatorMetrics | undefined;

  /**
   * Marks a system outside of the cluster: a recording has the answers of its calls, and a replay gives them again. Each
   * method must return a promise, or an object whose methods do. Without the option `recording` it returns the system.
   */
  readonly link: <System extends object>(system: System, name: string) => System;

  /**
   * Makes a controller with the operator's clock, randomness, logger and metrics. Options given here win. With
   * `failureEvents` failures become Events of the object.
   *
   * Source: `ctrl.NewControllerManagedBy` of sigs.k8s.io/controller-runtime.
   */
  controller<Item = string>(options: OperatorControllerArguments<Item>): Controller<Item>;
}

/**
 * Makes the work of one term: controllers that read the informers of the setup. Called once per term, after
 * the caches have all that the term before has written. Each part is run with this leadership; pass it to
 * nothing else. Writes of the operator's client are refused once the lease is lost, and from the end of a term until
 * the next one begins. `token` is the fencing token, 0 without an election.
 *
 * With `shards` it is called once: its controllers reconcile the keys of the slots that the process holds, and
 * `request.leadership` is the term of the slot.
 */
export type StartWork = (leadership: Leadership) => readonly Runnable[];

/** Declares the informers of an operator, once, and returns the function that makes its controllers. */
export type OperatorSetup = (context: OperatorContext) => StartWork | Promise<StartWork>;

/** Leader election of an operator. Durations are those of `LeaderElector`. */
export interface OperatorElectionOptions
  extends Pick<LeaderElectorOptions, "leaseDuration" | "renewDeadline" | "retryPeriod"> {
  /**
   * Namespace of the Lease.
   *
   * @defaultValue that of the transport: of the pod, or of the kubeconfig's context
   */
  readonly namespace?: string | undefined;

  /**
   * Name of the Lease.
   *
   * @defaultValue the name of the operator
   */
  readonly name?: string | undefined;
}

/** Slots of an operator. Durations are those of `Shards`. */
export interface OperatorShardsOptions
  extends Pick<ShardsOptions, "count" | "leaseDuration" | "renewDeadline" | "retryPeriod"> {
  /**
   * Namespace of the Leases.
   *
   * @defaultValue that of the transport: of the pod, or of the kubeconfig's context
   */
  readonly namespace?: string | undefined;

  /**
   * Start of the names of the Leases, for example `greeter` of `greeter-slot-0`, `greeter-wish-0` and `greeter-count`.
   *
   * @defaultValue the name of the operator
   */
  readonly name?: string | undefined;
}

/** Probes of an operator. `live` and `ready` add checks to its own. */
export type OperatorHealthOptions = Pick<
  HealthServerOptions,
  "port" | "host" | "live" | "ready" | "metrics"
>;

/** Options for `runOperator`. */
export interface OperatorOptions {
  /**
   * Name of the operator: of its Lease, of its fields in server-side apply, in its Events. At most 63 of a-z,
   * 0-9 and -.
   */
  readonly name: string;

  /** The way to the API server. */
  readonly transport: KubeTransport;

  /** See {@link OperatorSetup}. */
  readonly setup: OperatorSetup;

  /**
   * Election of one leader among the replicas, on a Lease. `false` for an operator that always works.
   *
   * @defaultValue on, with the defaults of {@link OperatorElectionOptions}
   */
  readonly leaderElection?: OperatorElectionOptions | false | undefined;

  /**
   * Divides the keys over all replicas, in place of `leaderElection`: each works on the keys of its slots, and no key is
   * worked on by two. All replicas have the same `count`.
   *
   * Every replica caches all objects. Work of `setup` that is no controller runs in all replicas. Controllers of
   * `context.controller` have their writes refused once the slot of the key is lost; one made with `new Controller` has not.
   *
   * @defaultValue none: one replica leads
   */
  readonly shards?: OperatorShardsOptions | undefined;

  /**
   * Server of the probes. `false` for none.
   *
   * @defaultValue on, port 8080
   */
  readonly health?: OperatorHealthOptions | false | undefined;

  /**
   * Options of the informers.
   *
   * @defaultValue those of `Cluster`
   */
  readonly cluster?:
    | Pick<ClusterOptions, "backoff" | "idleTimeout" | "pageSize" | "relistEvery">
    | undefined;

  /**
   * Whether to compare, once after the start, the CustomResourceDefinitions of the watched resources with those of the
   * server: of resources with a schema, and of `fromCrd`. A difference is a warning, and in `cluster.status()`. Needs the
   * verb `get` on `customresourcedefinitions`; without it a line for debugging says so.
   *
   * @defaultValue `false`
   */
  readonly compareCrds?: boolean | undefined;

  /**
   * Webhooks of the operator, on every replica. With them `/readyz` tells whether API servers may call: informers and the
   * election are shown, and do not count. A stop begins with the `drain`, so that it takes 16 s longer by default:
   * set `terminationGracePeriodSeconds` to 45.
   *
   * @defaultValue none
   */
  readonly webhooks?: WebhooksOptions | undefined;

  /**
   * Source of SIGINT and SIGTERM, which stop the operator: `process`. A second one at least 1 s later ends the
   * process at once.
   *
   * @defaultValue none
   */
  readonly signals?: SignalSource | undefined;

  /**
   * Name of the process, different from that of every other.
   *
   * @defaultValue the name of the host and a random UUID; with `random` a number that it draws, and the number of the
   * replica on the same clock
   */
  readonly identity?: string | undefined;

  /**
   * Clock of everything in the operator.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of jitter, and of the random part of names.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Receiver of log lines. A pino logger works as it is.
   *
   * @defaultValue `consoleLogger` if the standard output is a terminal, otherwise `jsonLogger`, one line of JSON per
   * record; both without lines for debugging
   */
  readonly logger?: Logger | undefined;

  /**
   * Receiver of metrics, for example `prometheusMetrics()` of `@holdfast/kubernetes/prometheus`.
   *
   * @defaultValue none
   */
  readonly metrics?: OperatorMetrics | undefined;

  /**
   * Records all that enters the operator, for `replay` of `@holdfast/fake-apiserver`. The values of Secrets are replaced.
   * A recording is as confidential as the cluster. A full or slow disk costs lines of the recording, and delays nothing but
   * a stop, by a second at most. It excludes `webhooks`: reviews come over connections to the operator, and keys from threads.
   *
   * @defaultValue none
   */
  readonly recording?: RecordingOptions | Tape | undefined;
}

/** Slots with their Leases. */
export type ResolvedShards = OperatorShardsOptions & {
  readonly namespace: string;
  readonly name: string;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
};

/** Webhooks with their defaults. */
export type ResolvedWebhooks = Required<
  Pick<DefinedWebhooks, "service" | "hooks" | "convert" | "certificate" | "port" | "drain">
> &
  Record<"host" | "clientCa", string | undefined> & { readonly namespace: string };

type DefinedWebhooks = { [Name in keyof WebhooksOptions]-?: NonNullable<WebhooksOptions[Name]> };

/** Election with its Lease. */
export type ResolvedElection = OperatorElectionOptions & {
  readonly namespace: string;
  readonly name: string;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
};

/** The options with their defaults. */
export type ResolvedOperator = Pick<
  OperatorOptions,
  "name" | "transport" | "setup" | "cluster" | "signals" | "random" | "metrics" | "recording"
> & {
  readonly leaderElection: ResolvedElection | false;
  readonly shards: ResolvedShards | undefined;
  readonly health: OperatorHealthOptions | false;
  readonly compareCrds: boolean;
  readonly webhooks: ResolvedWebhooks | undefined;
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** @throws RangeError or TypeError that names the option */
export function resolveOperator(options: OperatorOptions): ResolvedOperator {
  const given = read("options", options, "runOperator", OPERATOR_OPTIONS);
  const { health = {}, compareCrds = false, clock = realClock, logger = programLogger() } = given;
  const { identity = identityOf(clock, given.random) } = given;
  const { name, transport, setup, cluster, signals, random, metrics, recording } = given;
  if (recording !== undefined && given.webhooks !== undefined)
    throw new RangeError(
      "options.recording must be undefined beside options.webhooks, whose reviews and keys pass no seam of a recording: run the webhooks as an operator of their own",
    );
  return {
    name,
    transport,
    setup,
    ...resolveReplicas(given),
    health,
    cluster,
    compareCrds,
    webhooks: given.webhooks && resolveWebhooks(given.webhooks, transport.namespace),
    signals,
    identity,
    clock,
    random,
    logger,
    metrics,
    recording,
  };
}

function requireRecording(path: string, recording: RecordingOptions | Tape): void {
  if (!(recording instanceof Tape)) read(path, recording, "runOperator", RECORDING_OPTIONS);
}

function resolveWebhooks(
  options: WebhooksOptions,
  namespace: string | undefined,
): ResolvedWebhooks {
  const given = readWebhooks("options.webhooks", options);
  if (namespace === undefined)
    throw new RangeError(
      "options.webhooks needs a namespace for its Service: options.transport has none",
    );
  const { service, hooks = [], convert = [], certificate = "self", clientCa } = given;
  const isInPod = process.env["KUBERNETES_SERVICE_HOST"] !== undefined;
  const { port = 9_443, host = isInPod ? undefined : "127.0.0.1", drain = 10_000 } = given;
  if (hooks.length + convert.length === 0)
    throw new RangeError("options.webhooks must have hooks or convert, got neither");
  return { service, hooks, convert, certificate, clientCa, port, host, drain, namespace };
}

function requireHealth(path: string, health: OperatorHealthOptions | false): void {
  if (health !== false) read(path, health, "runOperator", HEALTH_OPTIONS);
}

function requireSlotCount(path: string, count: number): void {
  requireBetween(path, requireWhole(path, count, 1), 1, SLOTS);
}

/** Replicas so far on a clock: those of one simulation share it. */
const REPLICAS = new WeakMap<Clock, number>();

/**
 * Another one for each process, and each replica in it. With `random`, a function of the inputs: equal in every run of a
 * simulation.
 */
function identityOf(clock: Clock, random: Random | undefined): string {
  if (random === undefined) return `${hostname()}_${uuidFrom(random)}`;
  const replica = (REPLICAS.get(clock) ?? 0) + 1;
  REPLICAS.set(clock, replica);
  const drawn = Math.floor(random() * 2 ** 48).toString(16);
  return `${hostname()}_${drawn.padStart(12, "0")}-${replica}`;
}

/** How replicas share the work: by slots, or by an election of one. */
function resolveReplicas(
  options: OperatorOptions,
): Pick<ResolvedOperator, "shards" | "leaderElection"> {
  const shards = resolveShards(options);
  return { shards, leaderElection: shards === undefined && resolveElection(options) };
}

function resolveElection(options: OperatorOptions): ResolvedElection | false {
  const { leaderElection = {} } = options;
  if (leaderElection === false) return false;
  const option = "options.leaderElection";
  const given = read(option, leaderElection, "runOperator", OPERATOR_ELECTION_OPTIONS);
  return { ...given, ...resolveLeases(option, given, options) };
}

function resolveShards(options: OperatorOptions): ResolvedShards | undefined {
  const { shards, leaderElection = false } = options;
  if (shards === undefined) return undefined;
  const given = read("options.shards", shards, "runOperator", OPERATOR_SHARDS_OPTIONS);
  if (leaderElection !== false)
    throw new RangeError("options.leaderElection must be undefined or false beside options.shards");
  return { ...given, ...resolveLeases("options.shards", given, options) };
}

/** The place of the Leases, and their durations. */
function resolveLeases(
  option: string,
  leases: OperatorElectionOptions,
  { transport, name: operator }: OperatorOptions,
) {
  const { namespace = transport.namespace, name = operator } = leases;
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = leases;
  if (namespace === undefined)
    throw new RangeError(`${option}.namespace must be set: options.transport has no namespace`);
  requireNamespace(`${option}.namespace`, namespace);
  requireSegment(`${option}.name`, name);
  const durations = { leaseDuration, renewDeadline, retryPeriod };
  requireDurations(option, durations);
  return { namespace, name, ...durations };
}
