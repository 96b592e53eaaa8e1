import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { atUrl, builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { Candidate } from "./candidate.ts";

const NAMESPACE = "default";
const OBJECTS = 30;
const PATIENCE = { timeout: 240_000, backoff: { duration: 200 } };

interface MapObject extends KubeObject {
  data?: { wanted: string };
}
const ConfigMap = builtIn<MapObject>("v1", "ConfigMap");
const labels = { app: "outside" };

/** A system outside of the cluster. It refuses calls whose token is older than one that it has seen. */
class Provider implements AsyncDisposable {
  readonly records = new Map<string, string>();
  /** The tokens of the calls that it has accepted, in order. */
  readonly accepted: number[] = [];
  /** Called before a call is judged: a process can be stopped meanwhile. */
  onCall: () => void = () => undefined;
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then((status) => response.writeHead(status).end());
  });

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    this.onCall();
    const token = Number(request.headers["fencing-token"]);
    if (!(token >= (this.accepted.at(-1) ?? 0))) return 412;
    this.accepted.push(token);
    const name = (request.url ?? "").slice(1);
    if (request.method === "DELETE") this.records.delete(name);
    else this.records.set(name, body);
    return 204;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let server: ApiServer;
let client: KubeClient;
const provider = new Provider();
let url = "";
const started: Candidate[] = [];

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
  client = new KubeClient({ transport });
  url = await provider.start();
});

afterAll(async () => {
  for (const candidate of started) await candidate[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

function start(): Candidate {
  const program = { program: "outside-candidate.mjs", args: [url] };
  const candidate = new Candidate(`candidate-${started.length}`, NAMESPACE, server, program);
  started.push(candidate);
  return candidate;
}

const refOf = (index: number) => ({ namespace: NAMESPACE, name: `map-${index}` });

async function create(index: number, wanted: string): Promise<void> {
  await client.create(ConfigMap, { metadata: { ...refOf(index), labels }, data: { wanted } });
}

/** Waits for a leader whose token is above those of the terms that have ended. */
async function leaderAfter(token: number): Promise<Candidate & { readonly token: number }> {
  return await poll(() => {
    const leader = started.find((one) => (one.terms.at(-1)?.token ?? 0) > token);
    return leader && Object.assign(leader, { token: leader.terms.at(-1)?.token ?? 0 });
  }, PATIENCE);
}

/** Waits until the outside is what the cluster wants: nothing is missing, nothing is left. */
async function agrees(): Promise<void> {
  await poll(async () => {
    const wanted = new Map<string, string>();
    for await (const { metadata, data } of client.list(ConfigMap, { namespace: NAMESPACE, labels }))
      wanted.set(metadata.name, data?.wanted ?? "");
    const isSame = ([name, text]: [string, string]) => provider.records.get(name) === text;
    return wanted.size === provider.records.size && [...wanted].every(isSame);
  }, PATIENCE);
}

/** Changes a third of the objects, deletes one and creates one. */
async function change(round: number): Promise<void> {
  for (let index = round; index < OBJECTS; index += 3)
    await client.patch(ConfigMap, refOf(index), { data: { wanted: `round ${round}` } });
  await client.delete(ConfigMap, refOf(OBJECTS + round - 1));
  await create(OBJECTS + round, "new");
}

describe("an outside behind a fence, with processes on a real server", () => {
  ownServerTest(
    "is what the cluster wants after a kill, a leader that stands still, a stop and a restart of the server",
    async () => {
      for (let index = 0; index <= OBJECTS; index++) await create(index, "first");
      for (let replica = 0; replica < 3; replica++) start();
      const first = await leaderAfter(0);
      await agrees();

      // In the middle of a call: whether it arrives is not known to who comes after.
      provider.onCall = () => void first.kill();
      await change(1);
      const second = await leaderAfter(first.token);
      provider.onCall = () => undefined;
      await agrees();

      // It stands still with calls under way, and goes on when another leads.
      provider.onCall = () => second.freeze();
      await change(2);
      const third = await leaderAfter(second.token);
      provider.onCall = () => undefined;
      await agrees();
      second.thaw();

      start();
      await server.restart();
      await change(3);
      await agrees();

      expect(await third.stop()).toBe(0);
      await change(4);
      await agrees();

      // No leader of the past has changed anything after its successor.
      expect(provider.accepted).toEqual(provider.accepted.toSorted((one, other) => one - other));
      expect(new Set(provider.accepted).size).toBeGreaterThanOrEqual(4);
      for (const one of started.filter((candidate) => candidate !== first && candidate !== third))
        expect(await one.stop()).toBe(0);
    },
  );
});
