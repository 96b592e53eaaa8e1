import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { deferred, messageOf } from "@holdfast/kit";
import {
  type KubeClient,
  type KubeTransport,
  type OperatorContext,
  type OperatorSetup,
  type Resource,
  runOperator,
  type Webhook,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { ExploredApi } from "../explore/explored-api.ts";
import { GarbageCollector } from "../explore/garbage-collector.ts";
import type { FakeRequest } from "../server/faults.ts";
import { type NormalForm, type NormalFormOptions, normalForm } from "../server/normal-form.ts";
import type { StateSnapshot } from "../server/state/api-state.ts";

/** The operator of a path, and the cluster around it. */
export interface PathWorldOptions {
  readonly setup: OperatorSetup;
  readonly resources: readonly Resource[];
  readonly webhooks: readonly Webhook[] | undefined;
  readonly prepare: ((world: PathWorld) => unknown) | undefined;
  readonly normalise: NormalFormOptions["normalise"];
  readonly quiet: number;
}

/** Marks the requests of the operator in the log of the server. */
const OPERATOR = "x-operator";

/** Writes between two steps after which an operator counts as one that writes forever. */
const MAX_WRITES = 2_000;

/** Quiet times after which an operator that still writes counts as one that writes forever. */
const MAX_QUIETS = 20;

const SHORTEST_STEP = 1_000;
const LONGEST_STEP = 60_000;

const WRITES: ReadonlySet<string> = new Set([
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
]);

/** Statuses of a write that will be refused again, however often it is sent. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 413, 415, 422]);

/** An operator and a server on a clock of their own. */
export class PathWorld {
  readonly client: KubeClient;
  readonly clock: FakeClock = new FakeClock();
  readonly #options: PathWorldOptions;
  readonly #api: ExploredApi;
  readonly #start: number = this.clock.now();
  readonly #stop = new AbortController();

  /** Requests of the operator since the latest step. */
  #requests: FakeRequest[] = [];

  /** The errors of keys whose latest reconcile has failed, by controller and key. */
  readonly #failing = new Map<string, unknown>();

  private constructor(options: PathWorldOptions) {
    this.#options = options;
    const { clock } = this;
    const { resources, webhooks } = options;
    this.#api = new ExploredApi({ clock, resources, webhooks });
    new GarbageCollector({ api: this.#api, clock, resources });
    this.client = this.#api.client;
    const fault = (request: FakeRequest): undefined => {
      if (request.headers[OPERATOR] !== undefined) this.#requests.push(request);
    };
    this.#api.intercept({ fault });
  }

  /** Runs an operator while `script` acts as its users. */
  static play<T>(options: PathWorldOptions, script: (world: PathWorld) => Promise<T>): Promise<T> {
    const world = new PathWorld(options);
    return world.clock.run(() => world.#run(script));
  }

  async #run<T>(script: (world: PathWorld) => Promise<T>): Promise<T> {
    await this.#options.prepare?.(this);
    const endless = deferred<never>();
    const running = runOperator(
      {
        name: "operator",
        transport: this.#transport(() => endless.reject(this.#endless())),
        setup: (context) => this.#options.setup(this.#watched(context)),
        leaderElection: false,
        health: false,
        clock: this.clock,
        random: seededRandom(1),
        logger: silentLogger,
      },
      this.#stop.signal,
    );
    const ended = running.then((): never => {
      throw new Error("the operator stopped by itself");
    });
    try {
      return await Promise.race([script(this), ended, endless.promise]);
    } finally {
      this.#stop.abort();
      await running.catch(() => undefined);
    }
  }

  /** A context whose controllers tell which keys fail. */
  #watched(context: OperatorContext): OperatorContext {
    const failing = this.#failing;
    return {
      ...context,
      controller: (options) => {
        const reconcile: typeof options.reconcile = async (
          request: Parameters<typeof options.reconcile>[0],
        ) => {
          const name = `${options.name} ${request.key}`;
          try {
            const result = await options.reconcile(request);
            failing.delete(name);
            return result;
          } catch (error) {
            failing.set(name, error);
            throw error;
          }
        };
        return context.controller({ ...options, reconcile } as typeof options);
      },
    };
  }

  /** The way of the operator to the server, which is cut when it has written too often. */
  #transport(onEndless: () => void): KubeTransport {
    const { transport } = this.#api;
    return {
      description: transport.description,
      send: async (request, signal) => {
        if (this.#writes().length >= MAX_WRITES) {
          onEndless();
          throw new Error("the operator writes forever");
        }
        const headers = { ...request.headers, [OPERATOR]: "1" };
        return await transport.send({ ...request, headers }, signal);
      },
    };
  }

  /** Starts a step: the requests so far do not count any more. */
  begin(): void {
    this.#requests = [];
  }

  /** Waits until nothing has changed for the quiet time. */
  async settle(): Promise<void> {
    const { quiet } = this.#options;
    const start = this.clock.now();
    let version = 0;
    let changed = start;
    let step = SHORTEST_STEP;
    while (this.clock.now() - changed < quiet) {
      await this.clock.sleep(step);
      const now = this.#api.snapshot().version;
      step = now === version ? Math.min(2 * step, LONGEST_STEP) : SHORTEST_STEP;
      if (now !== version) changed = this.clock.now();
      version = now;
      if (changed - start > MAX_QUIETS * quiet) throw this.#endless();
    }
  }

  /** The state of the cluster, without what differs between two runs. */
  state(): NormalForm {
    const { normalise } = this.#options;
    return normalForm(this.#api.snapshot() as StateSnapshot, { start: this.#start, normalise });
  }

  /** Writes of the operator since the latest step that were refused, and reconciles that failed, at the last attempt. */
  failures(): string[] {
    const latest = new Map(
      this.#writes().map((request) => [`${request.verb} ${pathOf(request)}`, request]),
    );
    const refused = [...latest.values()].filter(({ status = 0 }) => REFUSALS.has(status));
    const failing = [...this.#failing].map(
      ([name, error]) => `  reconcile of ${name}: ${messageOf(error)}`,
    );
    return [...refused.map(lineOf), ...failing];
  }

  #endless(): PathProblem {
    const writes = this.#writes().slice(-5).map(lineOf);
    return new PathProblem("the operator writes forever", ["its last writes:", ...writes]);
  }

  #writes(): FakeRequest[] {
    return this.#requests.filter(({ verb }) => WRITES.has(verb));
  }
}

/** Something that an operator must not do. */
export class PathProblem extends Error {
  /** Lines below the message. */
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[]) {
    super(message);
    this.details = details;
  }
}

function pathOf({ path }: FakeRequest): string {
  return path.split("?")[0] as string;
}

function lineOf(request: FakeRequest): string {
  const { verb, resource, namespace, name, subresource, status } = request;
  const object = [namespace, name].filter(Boolean).join("/");
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `  ${verb} ${kind} ${object}: ${status ?? "no response"}`;
}
