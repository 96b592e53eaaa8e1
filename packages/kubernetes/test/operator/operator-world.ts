import type { FakeClock } from "@holdfast/clock/testing";
import { type ControllerOptions, type Logger, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  KubeClient,
  type KubeObject,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
  type OperatorOptions,
  runOperator,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { searchForSecrets } from "../secrets.ts";

export interface GreetingObject extends KubeObject {
  spec: { name: string };
}

export const Greeting = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
export const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
export const Lease = builtIn<KubeObject>("coordination.k8s.io/v1", "Lease");
const Event = builtIn<KubeObject>("events.k8s.io/v1", "Event");

/** A stretch of work on one key. */
export interface Span {
  readonly replica: string;
  readonly key: string;
  readonly from: number;
  /** Undefined while it lasts. */
  to: number | undefined;
  /** `spec.name` that the reconcile found. */
  readonly name: string | undefined;
  readonly token: number;
}

/** The way of one replica to the server, which can be cut. */
export class ReplicaTransport implements KubeTransport {
  readonly description = "replica";
  readonly namespace = "greeter";
  readonly #api: FakeApi;
  /** Requests for which this is true get no answer, until their signal aborts. */
  hangs: (request: KubeRequest) => boolean = () => false;
  /** Watches deliver nothing while this is true. */
  isDeaf = false;
  readonly #watches = new Map<AbortController, string>();

  constructor(api: FakeApi) {
    this.#api = api;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    if (this.hangs(request)) return await hangs(signal);
    const response = await this.#api.transport.send(request, signal);
    if (this.hangs(request)) return await hangs(signal);
    if (!request.path.includes("watch=true")) return response;
    return { ...response, body: this.#heard(request.path, response.body, signal) };
  }

  /** Ends the watches whose path has this part, as a server does. */
  endWatches(part: string): void {
    for (const [end, path] of this.#watches) if (path.includes(part)) end.abort();
  }

  async *#heard(
    path: string,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void> {
    const end = new AbortController();
    this.#watches.set(end, path);
    const ended = hangs(end.signal).catch(() => ({ done: true as const, value: undefined }));
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done = false, value } = await Promise.race([chunks.next(), ended]);
        if (done || value === undefined) return;
        if (this.isDeaf) await hangs(signal);
        yield value;
      }
    } finally {
      this.#watches.delete(end);
      await chunks.return?.();
    }
  }
}

function hangs(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

/** One process with an operator. */
export interface Replica {
  readonly transport: ReplicaTransport;
  readonly stop: AbortController;
  readonly running: Promise<void>;
  /** Settles with the process; undefined if it ended well. */
  error: unknown;
  isEnded: boolean;
}

/** Replicas of an operator on one API server, and the work that they do. */
export class OperatorWorld {
  readonly clock: FakeClock;
  readonly api: FakeApi;
  readonly client: KubeClient;
  readonly spans: Span[] = [];
  readonly lines: [number, string][] = [];
  readonly replicas: Replica[] = [];
  /** How long a reconcile takes, in milliseconds. */
  workTime = 0;
  /** Options of the controller. */
  controller: Partial<ControllerOptions> = {};
  readonly #start: number;

  constructor(clock: FakeClock) {
    this.clock = clock;
    this.#start = clock.monotonic();
    this.api = new FakeApi({ clock, resources: [Greeting, ConfigMap, Lease, Event] });
    this.client = new KubeClient({ transport: this.api.transport, clock });
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.clock.monotonic() - this.#start;
  }

  async greet(name: string, text = name): Promise<void> {
    await this.client.create(Greeting, {
      metadata: { namespace: "default", name },
      spec: { name: text },
    });
  }

  /** Starts a replica. */
  start(identity: string, options: Partial<OperatorOptions> = {}): Replica {
    const transport = new ReplicaTransport(this.api);
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "greeter",
        identity,
        transport,
        clock: this.clock,
        random: () => 0,
        health: false,
        logger: this.#logger(identity),
        setup: ({ cluster, controller }) => {
          const greetings = cluster.watch(Greeting);
          cluster.watch(ConfigMap);
          return ({ token }) => [
            controller({
              name: "greeter",
              sources: [greetings.source()],
              reconcile: async ({ key, signal }) => {
                const name = greetings.get(key)?.spec.name;
                await this.#work({ replica: identity, key, name, token }, signal);
              },
              ...this.controller,
            }),
          ];
        },
        ...options,
      },
      stop.signal,
    );
    const replica: Replica = { transport, stop, running, error: undefined, isEnded: false };
    this.replicas.push(replica);
    void running.then(
      () => {
        replica.isEnded = true;
      },
      (error: unknown) => {
        replica.isEnded = true;
        replica.error = error;
      },
    );
    return replica;
  }

  /** Stops all replicas, and checks that nothing is left. */
  async end(): Promise<void> {
    for (const { stop } of this.replicas) stop.abort("stop");
    await this.clock.step(60_000);
    expect(this.replicas.map(({ isEnded }) => isEnded)).not.toContain(false);
    expect(this.clock.waiters()).toBe(0);
    for (const { stop } of this.replicas) expect(abortListeners(stop.signal)).toBe(0);
  }

  /** The first time of each replica's work, in order. */
  terms(): [string, number][] {
    const first = new Map<string, number>();
    for (const { replica, token, from } of this.spans)
      if (!first.has(`${replica} ${token}`)) first.set(`${replica} ${token}`, from);
    return [...first].map(([term, from]) => [term.split(" ")[0] as string, from]);
  }

  /** Pairs of replicas that have worked at the same time. */
  overlaps(): string[] {
    const overlaps = new Set<string>();
    for (const [index, a] of this.spans.entries())
      for (const b of this.spans.slice(index + 1))
        if (a.replica !== b.replica && a.from < endOf(b) && b.from < endOf(a))
          overlaps.add(`${a.replica} until ${a.to}, ${b.replica} from ${b.from}`);
    return [...overlaps];
  }

  async #work(about: Omit<Span, "from" | "to">, signal: AbortSignal): Promise<void> {
    const span: Span = { ...about, from: this.now, to: undefined };
    this.spans.push(span);
    try {
      if (this.workTime > 0) await this.clock.sleep(this.workTime, { signal });
    } finally {
      span.to = this.now;
    }
  }

  #logger(identity: string): Logger {
    const note = (details: object, message: string): void => {
      searchForSecrets([details, message]);
      this.lines.push([this.now, `${identity}: ${message}`]);
    };
    return { ...silentLogger, info: note, debug: note, warn: note, error: note };
  }
}

function endOf({ to = Number.POSITIVE_INFINITY }: Span): number {
  return to;
}
