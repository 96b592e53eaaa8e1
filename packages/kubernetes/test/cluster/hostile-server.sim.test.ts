import type { FakeApiSnapshot } from "@holdfast/fake-apiserver";
import {
  type CachedObject,
  ConnectionError,
  type Informer,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import { isFollowing } from "../../src/operator/health-checks.ts";
import { Greeting, type GreetingObject, greeting, World } from "./cluster-kit.ts";

// A hostile server between FakeApi and an informer: lists, watches, probes and own writes fail in each way that
// HTTP and the watch protocol allow. The model is docs/operating-an-operator.md: a cache that lacks a change for
// longer than 15 minutes is not ready, one that has heard of a change within 15 minutes is, unless the server refuses to
// list or watch (403, 404), an own write is read
// at once, and 10 minutes after the last fault the cache equals the server. The server is restored from older states,
// too, behind frozen connections as well. An index function throws for one object, which must not harm the others. Nobody writes until the informer has noticed: an unnoticed restore whose
// versions are overtaken cannot be seen.

/** Worlds that have failed once. */
const KEPT_SEEDS = [702_333_141];
const first = Number(process.env["SIM_SEED"] ?? inject("seed"));
const WORLDS = Number(process.env["SIM_WORLDS"] ?? (inject("isThorough") ? 2_000 : 20));

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LONGEST_SILENCE = 15 * MINUTE;
const SAMPLE = 30 * SECOND;
/** A list shows the state in which it began. With the delays of this server it ends at most so much later. */
const LIST_TIME = 90 * SECOND;

type Verb = "list" | "watch" | "probe" | "write" | "get";

/** A request on its way, and the means to break it. */
interface Call {
  readonly request: KubeRequest;
  readonly signal: AbortSignal;
  readonly simulation: Simulation;
  readonly pass: () => Promise<KubeResponse>;
  /** Number from 0 to below `below`, whole. */
  readonly draw: (below: number) => number;
}

type Failure = (call: Call) => Promise<KubeResponse>;

function verbOf({ method, path }: KubeRequest): Verb {
  if (method !== "GET") return "write";
  if (path.includes("watch=true")) return "watch";
  if (/[?&]limit=1(&|$)/.test(path)) return "probe";
  return /\/greetings(\?|$)/.test(path) ? "list" : "get";
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function pick<Value>({ draw }: Pick<Call, "draw">, values: readonly Value[]): Value {
  return values[draw(values.length)] as Value;
}

function reset(request: KubeRequest, code = "ECONNRESET"): ConnectionError {
  return new ConnectionError(request, "hostile", Object.assign(new Error(code), { code }));
}

/** Nothing until the abort. */
async function hang({ simulation, signal }: Pick<Call, "simulation" | "signal">): Promise<never> {
  await simulation.world.clock.sleep(Number.POSITIVE_INFINITY, { signal, label: "hostile" });
  throw signal.reason;
}

const statuses = [
  204, 301, 302, 304, 307, 400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 429, 429, 500, 502,
  503, 503, 504, 599,
];
const reasons = ["Expired", "Gone", "Timeout", "InternalError", "TooManyRequests", "NotFound", ""];
const retryAfters = [
  "0",
  "0.5",
  "1",
  "30",
  "3600",
  "31536000",
  "1e20",
  "1e300",
  "-1",
  "soon",
  "Fri, 31 Dec 9999 23:59:59 GMT",
];
const garbage = ["", "<html>", "null", "[]", "{}", '"', "\uFFFD\u0000", '{"items":', "\n\n", "7"];

const anyFailures: Failure[] = [
  async (call) => {
    const status = pick(call, statuses);
    const json = { kind: "Status", apiVersion: "v1", status: "Failure", message: "hostile" };
    const texts = [
      JSON.stringify({ ...json, code: status, reason: pick(call, reasons) }),
      JSON.stringify({ ...json, reason: pick(call, reasons) }),
      JSON.stringify({ ...json, details: { retryAfterSeconds: pick(call, [1, 600, 1e300]) } }),
      pick(call, garbage),
    ];
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (call.draw(3) === 0) headers["retry-after"] = pick(call, retryAfters);
    if (status < 400) headers["location"] = "https://elsewhere.example/";
    if ((status === 403 || status === 404) && verbOf(call.request) !== "write")
      call.simulation.isRefused = true;
    return { status, headers, body: chunks(pick(call, texts)) };
  },
  async (call) => ({ status: 200, headers: {}, body: chunks(pick(call, garbage)) }),
  async ({ request }) => {
    throw reset(request, "ECONNREFUSED");
  },
  async ({ request, pass }) => {
    const { body } = await pass();
    await body[Symbol.asyncIterator]().return?.();
    throw reset(request);
  },
  async (call) => await hang(call),
  async (call) => {
    await call.pass();
    return await hang(call);
  },
  async (call) => {
    const { clock } = call.simulation.world;
    await clock.sleep(call.draw(20 * SECOND), { signal: call.signal, label: "hostile" });
    return await call.pass();
  },
  async (call) => cut(call, "end"),
  async (call) => cut(call, "reset"),
  async (call) => cut(call, "silence"),
];

/** Lets some bytes of the body pass. */
async function cut(call: Call, way: "end" | "reset" | "silence"): Promise<KubeResponse> {
  const response = await call.pass();
  async function* part(): AsyncGenerator<Uint8Array> {
    let left = call.draw(1_500);
    for await (const chunk of response.body) {
      yield chunk.subarray(0, left);
      left -= chunk.length;
      if (left <= 0) break;
    }
    if (left > 0 || way === "end") return;
    if (way === "reset") throw reset(call.request);
    await hang(call);
  }
  return { ...response, body: part() };
}

const listFailures: Failure[] = [
  async () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: chunks(listText({ resourceVersion: "5", continue: "again" }, [])),
  }),
  async (call) => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: chunks(
      pick(call, [
        listText({}, []),
        listText({ resourceVersion: "" }, []),
        listText({ resourceVersion: "5" }, [null]),
        listText({ resourceVersion: "5" }, [{}]),
        listText({ resourceVersion: "5" }, 7),
        listText(null, []),
      ]),
    ),
  }),
];

function listText(metadata: object | null, items: unknown): string {
  return JSON.stringify({
    kind: "GreetingList",
    apiVersion: "example.org/v1",
    metadata,
    items,
  });
}

function bookmark(resourceVersion: unknown): string {
  return JSON.stringify({
    type: "BOOKMARK",
    object: { kind: "Greeting", apiVersion: "example.org/v1", metadata: { resourceVersion } },
  });
}

function errorEvent(call: Call): string {
  const code = pick(call, [undefined, 0, 200, 400, 403, 410, 429, 500, 503, 504, "410"]);
  const details = { retryAfterSeconds: pick(call, [undefined, -1, 1, 60, 1e300, "1"]) };
  const object = { kind: "Status", code, reason: pick(call, reasons), message: "hostile", details };
  return JSON.stringify({ type: "ERROR", object: pick(call, [object, object, object, null, {}]) });
}

const watchFailures: Failure[] = [
  async (call) => await withLine(call, errorEvent(call)),
  async (call) => await withLine(call, errorEvent(call)),
  async (call) =>
    await withLine(
      call,
      pick(call, [
        '{"type":"CHANGED","object":{}}',
        '{"type":"MODIFIED","object":{"metadata":{}}}',
        '{"type":"ADDED"}',
        '{"type":"DELETED","object":null}',
        '{"type":"ADDED","object":{"metadata":',
        "<html>",
        "null",
        "[]",
        bookmark(7),
        bookmark(""),
      ]),
    ),
  async (call) => await withLine(call, bookmark("1")),
  async (call) => {
    const { simulation } = call;
    // A server that says so again and again is believed: nothing can be known about it.
    if (simulation.hasLied) return await call.pass();
    simulation.lie();
    return await withLine(call, bookmark("1000000000"));
  },
  async (call) => await withLine(call, call.simulation.seenLine(call)),
  async (call) => {
    const response = await call.pass();
    async function* twice(): AsyncGenerator<Uint8Array> {
      for await (const chunk of response.body) {
        yield chunk;
        yield chunk;
      }
    }
    return { ...response, body: twice() };
  },
  async (call) => ({ status: 200, headers: {}, body: trickle(call, pick(call, ["\n", "\r\n"])) }),
  async (call) => ({ status: 200, headers: {}, body: trickle(call, pick(call, [" ", "{"])) }),
  async () => ({ status: 200, headers: {}, body: chunks() }),
];

async function* trickle(call: Call, text: string): AsyncGenerator<Uint8Array> {
  const { simulation, signal } = call;
  while (simulation.isHostile) {
    await simulation.world.clock.sleep(10 * SECOND, { signal, label: "hostile" });
    yield Buffer.from(text);
  }
  await hang(call);
}

/** The watch, with a line after some of its events. */
async function withLine(call: Call, line: string): Promise<KubeResponse> {
  const response = await call.pass();
  async function* more(): AsyncGenerator<Uint8Array> {
    let left = call.draw(3);
    if (left === 0) yield Buffer.from(`${line}\n`);
    for await (const chunk of response.body) {
      yield chunk;
      if (--left === 0) yield Buffer.from(`${line}\n`);
    }
  }
  return { ...response, body: more() };
}

const objectFailures: Failure[] = [
  async (call) => {
    const kind = pick(call, ["ConfigMap", "Status", "GreetingList", "greeting", 7]);
    const metadata = { name: "own", namespace: "default", uid: "other", resourceVersion: "5" };
    const spec = { text: "other" };
    const body = chunks(JSON.stringify({ kind, apiVersion: "example.org/v1", metadata, spec }));
    return { status: pick(call, [200, 201]), headers: {}, body };
  },
];

const failures: Readonly<Record<Verb, readonly Failure[]>> = {
  list: [...anyFailures, ...listFailures],
  probe: [...anyFailures, ...listFailures],
  watch: [...anyFailures, ...watchFailures, ...watchFailures],
  write: [...anyFailures, ...objectFailures],
  get: [...anyFailures, ...objectFailures],
};

const names = ["a", "b", "c", "d"];

type Greetings = Informer<GreetingObject>;

class Simulation {
  readonly world: World;
  /** Whether the server has refused to list, and has taken no watch since. */
  isRefused = false;
  #isOver = false;
  readonly #draw: (below: number) => number;
  readonly #random: () => number;
  readonly #lines: string[] = [];
  /** The failures of each verb now, and how often they come. */
  #plan = new Map<Verb, { readonly failures: readonly Failure[]; readonly share: number }>();
  #liedAt = Number.NEGATIVE_INFINITY;
  hasLied = false;
  /** Watches up to this number get nothing any more, not even the end of their connection. */
  #frozen = 0;
  #watches = 0;
  #texts = 0;
  #snapshot: FakeApiSnapshot | undefined;
  /** The server was restored, and the informer has not noticed yet: how many lists it had begun. */
  #restoredAfter: number | undefined;
  /** When each of the differences was first seen. */
  readonly #differsSince = new Map<string, number>();
  #lastWrite: { readonly name: string; readonly text: string; readonly at: number } | undefined;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#random = random;
    this.#draw = (below) => Math.floor(random() * below);
    this.world = new World({
      random,
      pageSize: 2 + this.#draw(5),
      way: (transport) => this.#way(transport),
    });
  }

  #way({ description, send }: KubeTransport): KubeTransport {
    return {
      description,
      send: async (request, signal) => {
        const verb = verbOf(request);
        const pass = async (): Promise<KubeResponse> => {
          const response = await send(request, signal);
          if (verb !== "watch" || response.status !== 200) return response;
          return { ...response, body: this.#freezable(response.body, signal) };
        };
        const plan = this.#plan.get(verb);
        if (plan === undefined || this.#random() >= plan.share) {
          const response = await pass();
          if (verb === "watch" || verb === "probe") this.isRefused = false;
          return response;
        }
        const call = { request, signal, simulation: this, pass, draw: this.#draw };
        return await pick(call, plan.failures)(call);
      },
    };
  }

  async *#freezable(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const number = ++this.#watches;
    const call = { simulation: this, signal };
    try {
      for await (const chunk of body) {
        if (number <= this.#frozen) await hang(call);
        const line = Buffer.from(chunk).toString().trim();
        if (!line.includes("BOOKMARK")) this.#lines.push(line);
        yield chunk;
      }
    } catch (error) {
      if (number <= this.#frozen) await hang(call);
      throw error;
    }
    if (number <= this.#frozen) await hang(call);
  }

  /** A line that a watch has brought before. */
  seenLine(call: Call): string {
    return this.#lines[call.draw(this.#lines.length)] ?? "";
  }

  get isHostile(): boolean {
    return this.#plan.size > 0;
  }

  lie(): void {
    this.hasLied = true;
    this.#liedAt = this.world.now;
  }

  async run(): Promise<void> {
    const { world } = this;
    const letter = ({ metadata: { name } }: CachedObject<GreetingObject>): string[] => {
      if (name === "d") throw new Error("has no letter");
      return [name];
    };
    const informer = world.cluster.watch(Greeting, { indexes: { letter } });
    await world.run(async () => {
      const writing = this.#write();
      const sampling = this.#sample(informer);
      const work = Promise.all([writing, sampling]);
      work.catch(() => {});
      try {
        for (let phase = 0; phase < 4; phase++) await this.#phase();
      } finally {
        this.#plan.clear();
        this.#isOver = true;
      }
      await work;
      await world.clock.sleep(10 * MINUTE);
      expect(await this.#differences(informer)).toEqual([]);
      expect(this.#isReady).toBe(true);
    });
  }

  async #phase(): Promise<void> {
    const { clock, api } = this.world;
    const draw = this.#draw;
    this.#plan.clear();
    this.hasLied = false;
    for (const verb of ["list", "watch", "probe", "write", "get"] as const) {
      if (draw(3) === 0) continue;
      // One way to fail, or all of them.
      const one = [pick({ draw }, failures[verb])];
      const share = pick({ draw }, [1, 1, 0.7, 0.2]);
      this.#plan.set(verb, { failures: draw(2) === 0 ? one : failures[verb], share });
    }
    if (draw(2) === 0) this.#frozen = this.#watches;
    const event = draw(6);
    if (event <= 2) api.stop();
    if (event === 1) await clock.sleep(draw(2 * MINUTE));
    if (event <= 2) await api.start({ history: event === 2 ? "lost" : "kept" });
    if (event === 3) api.compact();
    if (event >= 4) this.#snapshotOrRestore();
    await clock.sleep(pick({ draw }, [SECOND, MINUTE, 8 * MINUTE, 40 * MINUTE]));
    if (draw(2) === 0) return;
    this.#plan.clear();
    await clock.sleep(draw(20 * MINUTE));
  }

  #snapshotOrRestore(): void {
    const { api } = this.world;
    if (this.#snapshot === undefined) {
      this.#snapshot = api.snapshot();
      return;
    }
    api.restore(this.#snapshot);
    this.#snapshot = undefined;
    this.#restoredAfter = this.#lists;
    this.#lastWrite = undefined;
    this.#differsSince.clear();
    this.#lines.length = 0; // no server repeats events of a history that it has lost
  }

  async #write(): Promise<void> {
    const { clock } = this.world;
    while (!this.#isOver) {
      await clock.sleep(this.#draw(4 * MINUTE));
      if (this.#isOver || this.#restoredAfter !== undefined) continue;
      await this.#put().catch(() => {}); // the server is down
      if (this.#draw(2) === 0) await this.#ownWrite();
    }
  }

  async #put(): Promise<void> {
    const name = pick({ draw: this.#draw }, names);
    const text = `${this.#texts++}`;
    if (this.#draw(6) === 0) await this.world.others.delete(Greeting, `default/${name}`);
    else {
      await this.world.put(name, text);
      this.#lastWrite = { name, text, at: this.world.now };
    }
  }

  async #ownWrite(): Promise<void> {
    const { client } = this.world.cluster;
    const object = greeting("own", `own ${this.#texts++}`);
    const informer = this.world.cluster.watch(Greeting);
    let written: GreetingObject;
    try {
      const there = await client.find(Greeting, object.metadata);
      if (there === undefined) written = await client.create(Greeting, object);
      else written = await client.patch(Greeting, object.metadata, { spec: object.spec });
    } catch {
      return; // a failure met the write, which may have been done
    }
    expect(written.kind).toBe("Greeting");
    // A restore has taken it back.
    if (this.#restoredAfter !== undefined) return;
    if (informer.hasSynced && written.spec?.text === object.spec.text)
      expect(informer.get(object.metadata)?.spec?.text).toBe(object.spec.text);
  }

  get #lists(): number {
    const [informer] = this.world.cluster.status().informers;
    return informer?.reflectors[0]?.lists ?? 0;
  }

  get #isReady(): boolean {
    return this.world.cluster.status().informers.every(isFollowing);
  }

  async #sample(informer: Greetings): Promise<void> {
    const { clock } = this.world;
    while (!this.#isOver) {
      await clock.sleep(SAMPLE);
      const differing = await this.#differences(informer).catch(() => undefined);
      if (differing === undefined) continue; // the server is down
      const { now } = this.world;
      const hasListed = this.#lists > (this.#restoredAfter ?? 0);
      if (hasListed && differing.length === 0) this.#restoredAfter = undefined;
      for (const name of this.#differsSince.keys())
        if (!differing.includes(name)) this.#differsSince.delete(name);
      for (const name of differing)
        if (!this.#differsSince.has(name)) this.#differsSince.set(name, now);
      const since = Math.max(Math.min(now, ...this.#differsSince.values()), this.#liedAt);
      const blindFor = now - since - LIST_TIME;
      if (blindFor > LONGEST_SILENCE)
        expect(this.#isReady, `blind for ${blindFor} ms and ready at ${now}`).toBe(false);
      if (this.#lastWrite === undefined) continue;
      const { name, text, at } = this.#lastWrite;
      const hasIt = informer.get({ namespace: "default", name })?.spec?.text === text;
      if (hasIt && now - at <= LONGEST_SILENCE && !this.isRefused)
        expect(this.#isReady, `not blind and not ready at ${now}`).toBe(true);
    }
  }

  /** Names, with their cached versions, of the objects that the server has in another state. */
  async #differences(informer: Greetings): Promise<string[]> {
    const there = new Map<string, string>();
    const stateOf = ({ metadata, spec }: CachedObject<GreetingObject>): string =>
      `${metadata.uid}@${metadata.resourceVersion} ${spec?.text}`;
    for await (const object of this.world.others.list(Greeting))
      there.set(object.metadata.name, stateOf(object));
    return [...names, "own"].flatMap((name) => {
      const object = informer.get({ namespace: "default", name });
      const cached = object && stateOf(object);
      return cached === there.get(name) ? [] : [`${name} ${cached}`];
    });
  }
}

it(`an informer is never blind and ready in ${WORLDS} worlds of a hostile server`, {
  timeout: 1_800_000,
}, async () => {
  const drawn = Array.from({ length: WORLDS }, (_, index) => first + index);
  for (const seed of [...KEPT_SEEDS, ...drawn]) {
    try {
      await new Simulation(seed).run();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
