import { FakeClock } from "@holdfast/clock/testing";
import type { Logger } from "@holdfast/controller";
import { silentLogger } from "@holdfast/controller";
import { FakeApi, type FakeRequest } from "@holdfast/fake-apiserver";
import {
  builtIn,
  Cluster,
  type ClusterOptions,
  customResource,
  type Informer,
  KubeClient,
  type KubeObject,
  type KubeResponse,
  type KubeTransport,
  type ObjectChange,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { searchForSecrets } from "../secrets.ts";

export interface GreetingObject extends KubeObject {
  spec?: { text: string };
}

export const Greeting = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});

export interface ConfigMapObject extends KubeObject {
  data?: { [name: string]: string };
}

export const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");

/** A server on a fake clock, a cluster of it, and another client that writes as others do. */
export class World {
  readonly clock = new FakeClock();
  readonly api: FakeApi = new FakeApi({ clock: this.clock, resources: [Greeting, ConfigMap] });
  readonly others: KubeClient;
  readonly cluster: Cluster;
  readonly stop = new AbortController();
  /** Warnings and errors of the cluster. */
  readonly logged: string[] = [];
  readonly #start = this.clock.now();

  constructor(
    options: Partial<ClusterOptions> & { way?: (transport: KubeTransport) => KubeTransport } = {},
  ) {
    const { way = (transport) => transport, ...rest } = options;
    const { clock, api } = this;
    const note = (details: object, message: string): void => {
      searchForSecrets([details, message]);
      this.logged.push(message);
    };
    const logger: Logger = { ...silentLogger, warn: note, error: note };
    this.others = new KubeClient({ transport: api.transport, clock, logger });
    // With the shortest delays of the backoff, unless the test says otherwise.
    const transport = way(api.transport);
    this.cluster = new Cluster({ transport, clock, logger, random: () => 0, ...rest });
  }

  /** Runs the cluster while `work` runs. Nothing is left afterwards. */
  async run(work: () => Promise<unknown>): Promise<void> {
    const { clock, cluster, stop } = this;
    await clock.run(async () => {
      const running = cluster.run(stop.signal);
      try {
        await work();
      } finally {
        stop.abort();
        await running;
      }
    });
    expect([clock.pending(), abortListeners(stop.signal)]).toEqual([[], 0]);
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.clock.now() - this.#start;
  }

  /** Creates or changes a greeting, as another client. */
  async put(name: string, text: string): Promise<void> {
    const object = greeting(name, text);
    const there = await this.others.find(Greeting, object.metadata);
    if (there === undefined) await this.others.create(Greeting, object);
    else await this.others.patch(Greeting, object.metadata, { spec: object.spec });
  }

  /** The requests of the cluster, as `verb` and milliseconds since the world began. */
  requests(...verbs: string[]): [string, number][] {
    return this.asked(...verbs).map(({ verb, at }) => [verb, at - this.#start]);
  }

  asked(...verbs: string[]): FakeRequest[] {
    const wanted = verbs.length === 0 ? ["list", "watch"] : verbs;
    return this.api.requests.filter(({ verb }) => wanted.includes(verb));
  }
}

export function greeting(name: string, text: string) {
  return { metadata: { namespace: "default", name }, spec: { text } };
}

/** The greetings of an informer, as `name: text`. */
export function texts(informer: Informer<GreetingObject>): string[] {
  return informer
    .list()
    .map(({ metadata, spec }) => `${metadata.name}: ${spec?.text}`)
    .sort();
}

/** Collects the changes of an informer, as `type name: text`. */
export function follow(informer: Informer<GreetingObject>, signal: AbortSignal): string[] {
  const changes: string[] = [];
  const enqueue = ({ type, object, isGuess }: ObjectChange<GreetingObject>): void => {
    const guess = isGuess ? " (guess)" : "";
    changes.push(`${type} ${object.metadata.name}: ${object.spec?.text}${guess}`);
  };
  const failed = (error: unknown): never => expect.fail(String(error));
  informer.changes().start({ enqueue, failed, clock: new FakeClock() }, signal);
  return changes;
}

/** A way on which `change` sees each answer to a watch. */
export function onWatches(change: (answer: KubeResponse, signal: AbortSignal) => KubeResponse) {
  return ({ description, send }: KubeTransport): KubeTransport => ({
    description,
    async send(request, signal) {
      const answer = await send(request, signal);
      const isWatch = request.path.includes("watch=true") && answer.status === 200;
      return isWatch ? change(answer, signal) : answer;
    },
  });
}

/** A way on which every watch is closed, cleanly, some time after it was opened. */
export function closingAfter(clock: () => FakeClock, delay: number) {
  return onWatches((answer) => ({ ...answer, body: closing(answer.body, clock(), delay) }));
}

async function* closing(body: AsyncIterable<Uint8Array>, clock: FakeClock, delay: number) {
  const chunks = body[Symbol.asyncIterator]();
  const timer = clock.newTimer(delay, { label: "server closes" });
  const closed = timer.fired.then(() => ({ done: true, value: undefined }) as const);
  try {
    for (;;) {
      const { done, value } = await Promise.race([chunks.next(), closed]);
      if (done === true) return;
      yield value;
    }
  } finally {
    timer.stop();
    // Not awaited: a chunk is still awaited, until the cluster ends the request.
    chunks.return?.().catch(() => {});
  }
}

/** A way on which every event arrives late. */
export function lateBy(clock: () => FakeClock, delay: number) {
  return onWatches((answer, signal) => ({
    ...answer,
    body: late(answer.body, clock(), delay, signal),
  }));
}

async function* late(
  body: AsyncIterable<Uint8Array>,
  clock: FakeClock,
  delay: number,
  signal: AbortSignal,
) {
  const arrivals: { chunk: Uint8Array; at: number }[] = [];
  let more = (): void => {};
  let end: { error?: unknown } | undefined;
  void (async () => {
    try {
      for await (const chunk of body) {
        arrivals.push({ chunk, at: clock.monotonic() + delay });
        more();
      }
      end = {};
    } catch (error) {
      end = { error };
    }
    more();
  })();
  for (;;) {
    const next = arrivals.shift();
    if (next !== undefined) {
      await clock.sleepUntil(next.at, { signal, label: "late event" });
      yield next.chunk;
    } else if (end !== undefined) {
      if ("error" in end) throw end.error;
      return;
    } else {
      await new Promise<void>((resolve) => {
        more = resolve;
      });
    }
  }
}

/** A way on which a watch brings one event at a time, each `period` milliseconds after the one before. */
export function slowedTo(clock: () => FakeClock, period: number) {
  return onWatches((answer, signal) => ({
    ...answer,
    body: slowed(answer.body, clock(), period, signal),
  }));
}

async function* slowed(
  body: AsyncIterable<Uint8Array>,
  clock: FakeClock,
  period: number,
  signal: AbortSignal,
) {
  for await (const chunk of body) {
    await clock.sleep(period, { signal, label: "slow event" });
    yield chunk;
  }
}
