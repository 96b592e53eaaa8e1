import { Agent } from "node:http";
import { FakeClock } from "@holdfast/clock/testing";
import { type Logger, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  Cluster,
  EventRecorder,
  KubeClient,
  type KubeObject,
  type KubernetesMetrics,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { CredentialCache, Credentials } from "../src/transport/credentials.ts";
import { failure, scriptedTransport } from "./client/scripted-transport.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const nameOf = (index: number): string => `map-${index}`;

interface Common {
  readonly clock: FakeClock;
  readonly logger: Logger;
  readonly api: FakeApi;
}

/** Adds a warning with the path of each request, without its number. */
function warning({ transport }: FakeApi, word: (index: number) => string): KubeTransport {
  let index = 0;
  return {
    description: transport.description,
    async send(request, signal) {
      const response = await transport.send(request, signal);
      const headers = { ...response.headers, warning: `299 - "${word(index++)} is old"` };
      return { ...response, headers };
    },
  };
}

/** A word for an index, without a digit. */
const letters = (index: number): string =>
  [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");

/** Each has many things that fail. */
const DOORS: Record<string, (common: Common, stop: AbortSignal) => Promise<unknown>> = {
  "objects that a function rejects": async ({ api, ...common }, stop) => {
    for (let index = 0; index < 500; index++)
      await api.client.create(ConfigMap, {
        metadata: { namespace: "default", name: nameOf(index) },
      });
    const cluster = new Cluster({ ...common, name: "part", transport: api.transport });
    const transform = (): never => {
      throw new Error("odd");
    };
    cluster.watch(ConfigMap, { transform });
    await cluster.run(stop);
  },
  "warnings of other texts": async ({ api, ...common }, stop) => {
    const client = new KubeClient({ ...common, transport: warning(api, letters) });
    for (let index = 0; index < 500; index++)
      await client.find(ConfigMap, { namespace: "default", name: "ann" }, { signal: stop });
  },
};

describe("things of one kind that fail have a hundred lines a minute, and one for all others", () => {
  it.each(Object.entries(DOORS))("%s", async (_, fail) => {
    const clock = new FakeClock();
    const lines: { others?: number }[] = [];
    const write = (details: object): void => void lines.push(details);
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const api = new FakeApi({ clock, resources: [ConfigMap] });
    const stop = new AbortController();
    const failing = fail({ clock, logger, api }, stop.signal);
    await clock.step(30_000);
    expect(lines.map(({ others }) => others)).toEqual([...new Array<undefined>(100), 1]);
    stop.abort();
    await clock.run(() => failing);
  });
});

it("logs a hundred warnings of other texts, and one a minute for all others", async () => {
  const clock = new FakeClock();
  const lines: { others?: number }[] = [];
  const logger: Logger = { ...silentLogger, warn: (details) => void lines.push(details) };
  const api = new FakeApi({ clock, resources: [ConfigMap] });
  const client = new KubeClient({ clock, logger, transport: warning(api, letters) });
  for (let second = 0; second < 600; second++) {
    await client.find(ConfigMap, "default/ann");
    await clock.step(1_000);
  }
  const minutes = [1, 60, 60, 60, 60, 60, 60, 60, 60];
  expect(lines.map(({ others }) => others)).toEqual([...new Array<undefined>(100), ...minutes]);
});

it("logs warnings of the server that differ in a number once", async () => {
  const clock = new FakeClock();
  const lines: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (details) => void lines.push(details) };
  const api = new FakeApi({ clock, resources: [ConfigMap] });
  const client = new KubeClient({ clock, logger, transport: warning(api, nameOf) });
  for (let minute = 0; minute < 5; minute++) {
    for (let index = 0; index < 300; index++)
      await client.find(ConfigMap, { namespace: "default", name: "ann" });
    await clock.step(60_000);
  }
  expect(lines).toEqual([{ warning: "map-0 is old" }]);
});

/** The ten letters of a number: another word each time, without a digit. */
const word = (index: number): string =>
  [...String(index * 7_919)].map((digit) => "qwertyuiop"[Number(digit)]).join("");

const TEXTS: Record<string, (index: number) => string> = {
  "the same text": () => "down",
  "another number": (index) => `grants none for ${100_000 - index} ms, request ${index}-a`,
  "another word": word,
};

/** Each has one thing that fails all the time. */
const REPEATED: Record<
  string,
  (common: Common, odd: () => never) => (stop: AbortSignal) => Promise<unknown>
> = {
  "a list": ({ api, ...common }, odd) => {
    const transport = { ...api.transport, send: async () => odd() };
    const cluster = new Cluster({ ...common, name: "part", transport });
    cluster.watch(ConfigMap);
    return (stop) => cluster.run(stop);
  },
  "a function of an object, every other time": ({ api, ...common }, odd) => {
    const cluster = new Cluster({ ...common, name: "part", transport: api.transport });
    let isGood = false;
    cluster.watch(ConfigMap, {
      transform: (object) => {
        isGood = !isGood;
        return isGood ? object : odd();
      },
    });
    const ref = { namespace: "default", name: "ann" };
    return async (stop) => {
      await api.client.create(ConfigMap, { metadata: ref });
      const running = cluster.run(stop);
      await eachSecond(common.clock, stop, (at) =>
        api.client.patch(ConfigMap, ref, { metadata: { annotations: { at } } }),
      );
      await running;
    };
  },
  "the metrics of a client": ({ api, ...common }, odd) => {
    const metrics = new Proxy({} as KubernetesMetrics, { get: () => odd });
    const client = new KubeClient({ ...common, transport: api.transport, metrics });
    return (stop) => eachSecond(common.clock, stop, () => client.find(ConfigMap, "default/ann"));
  },
  Events: ({ api, ...common }, odd) => {
    // The reason is a text of the server, too.
    const send: KubeTransport["send"] = async (request, signal) => {
      const text = textThrownBy(odd);
      return await scriptedTransport(failure(403, text, { message: text })).transport.send(
        request,
        signal,
      );
    };
    const client = new KubeClient({ ...common, transport: { ...api.transport, send } });
    const events = new EventRecorder({ ...common, client, controller: "part" });
    return async (stop) => {
      const running = events.run(stop);
      await eachSecond(common.clock, stop, (at) => {
        const metadata = { namespace: "default", name: `n${at}`, uid: at };
        const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
        events.record(object, { reason: "Odd", action: "Sync", note: "odd" });
      });
      await running;
    };
  },
  credentials: ({ clock, logger }, odd) => {
    let load = async () => new Credentials(new Agent(), {});
    const cache = new CredentialCache({
      ...{ clock, logger, maxAge: 900 },
      load: () => load(),
    });
    return async (stop) => {
      await cache.get();
      load = async () => odd();
      await eachSecond(clock, stop, () => cache.get());
    };
  },
};

function textThrownBy(odd: () => never): string {
  try {
    return odd();
  } catch (error) {
    return (error as Error).message;
  }
}

async function eachSecond(
  clock: FakeClock,
  stop: AbortSignal,
  run: (at: string) => unknown,
): Promise<void> {
  for (let at = 0; !stop.aborted; at++) {
    await run(`${at}`);
    await clock.sleep(1_000);
  }
}

describe.each(Object.entries(TEXTS))("a failure with %s is logged once a minute", (_, textOf) => {
  it.each(Object.entries(REPEATED))("of %s", async (_, make) => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const minutes: number[] = [];
    let [failed, told] = [0, 0];
    const write = (details: object): void => {
      minutes.push(Math.floor((clock.monotonic() - start) / 60_000));
      told += (details as { readonly count?: number }).count ?? 1;
    };
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const api = new FakeApi({ clock, resources: [ConfigMap] });
    const stop = new AbortController();
    const run = make({ clock, logger, api }, () => {
      throw new Error(textOf(++failed));
    });
    const running = run(stop.signal);
    await clock.step(600_000);
    stop.abort();
    await clock.run(() => running);
    expect(minutes.slice(0, 2)).toEqual([0, expect.toBeOneOf([0, 1])]); // another text is news, once
    expect(new Set(minutes).size).toBeGreaterThanOrEqual(minutes.length - 1);
    expect(told).toBeGreaterThanOrEqual(0.85 * failed); // all but those of the last minute or two
  });
});
