import { FakeClock } from "@holdfast/clock/testing";
import { type Logger, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  Cluster,
  KubeClient,
  type KubeObject,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";

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
