import { AsyncLocalStorage } from "node:async_hooks";
import { execFile, execFileSync } from "node:child_process";
import {
  createHash,
  createSign,
  generateKeyPairSync,
  getRandomValues,
  randomFillSync,
  randomUUID,
} from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { opendir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deflate, gunzipSync, gzipSync } from "node:zlib";
import { BaseClock, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { type Line, openRecording, type Recording } from "@holdfast/controller/recording";
import { FakeApi, replay, shadow } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type KubeObject,
  type OperatorContext,
  type OperatorOptions,
  type OperatorSetup,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { withoutStop } from "./without-stop.ts";

type ConfigMapObject = KubeObject & { data?: { [name: string]: string } };
const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Secret = builtIn<KubeObject & { data?: { [name: string]: string } }>("v1", "Secret");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const ann = { namespace: "default", name: "ann" };

/** An operator that writes a text to each ConfigMap. */
const marker =
  (textOf: (context: OperatorContext, map: ConfigMapObject) => unknown): OperatorSetup =>
  (context) => {
    const maps = context.cluster.watch(ConfigMap);
    return () => [
      context.controller({
        name: "marker",
        sources: [maps.source()],
        async reconcile({ key, signal }) {
          const map = maps.get(key);
          if (map === undefined || map.data?.["text"] !== undefined) return undefined;
          const text = `${await textOf(context, map as ConfigMapObject)}`;
          await context.client.patch(ConfigMap, key, { data: { text } }, { signal });
          return { requeueAfter: 60_000 };
        },
      }),
    ];
  };

const plain = marker(() => "seen");
const file = fileURLToPath(import.meta.url);

/** Records an operator on a fake server. */
async function record(
  setup: OperatorSetup,
  play?: (api: FakeApi, clock: FakeClock) => Promise<void>,
  options: (clock: FakeClock) => Partial<OperatorOptions> = () => ({}),
  error?: string,
): Promise<Recording & { readonly directory: string }> {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap, Secret, Lease] });
  await clock.run(async () => {
    const stop = new AbortController();
    const running = runOperator(
      {
        ...{ name: "marker", transport: api.transport, setup, clock, logger: silentLogger },
        ...{ health: false, leaderElection: { namespace: "default" }, recording: { directory } },
        ...options(clock),
      },
      stop.signal,
    );
    await api.client.create(ConfigMap, { metadata: ann });
    await clock.sleep(5_000);
    await play?.(api, clock);
    stop.abort(new Error("enough"));
    if (error === undefined) await running;
    else await expect(running).rejects.toThrow(error);
  });
  expect(clock.waiters()).toBe(0);
  return Object.assign(await openRecording(directory), { directory });
}

it("gives the operator the same again: requests, timers and the stop", async () => {
  const recording = await record(plain, async (_, clock) => await clock.sleep(120_000));
  const report = await replay(recording, { setup: plain });
  const asked = [...recording.lines()].filter(({ k }) => k === "q" || k === "l");
  expect(report).toEqual({
    ...{ divergence: undefined, requests: asked.length, foreign: [], timers: [] },
    inputs: expect.any(Number),
  });
});

it("names the write that another text makes different, and the inputs before", async () => {
  const recording = await record(plain, async ({ client }, clock) => {
    await client.create(ConfigMap, { metadata: { ...ann, name: "bob" } });
    await clock.sleep(1_000);
  });
  const changed = marker((_, { metadata }) => (metadata?.name === "bob" ? "other" : "seen"));
  const { divergence } = await replay(recording, { setup: changed });
  expect(divergence).toMatchObject({
    path: "body.data.text",
    request: { m: "PATCH", body: '{"data":{"text":"other"}}' },
    recorded: { m: "PATCH", body: '{"data":{"text":"seen"}}' },
  });
  expect(divergence?.inputs).toHaveLength(20);
  expect(divergence?.text).toContain("they differ in body.data.text");
});

it("names a recorded request that the operator does not make, and its timer that is due", async () => {
  const recording = await record(plain);
  const lazy = marker(async ({ clock }) => {
    await clock.sleep(1, { label: "pause" });
    return "seen";
  });
  const { divergence } = await replay(recording, { setup: lazy });
  expect(divergence).toMatchObject({ request: undefined, recorded: { m: "PATCH" }, path: "" });
  expect(divergence?.text).toMatch(/^the operator did not make the recorded PATCH /);
});

it("names a request that the recording does not have", async () => {
  const recording = await record(marker(() => "seen"));
  const eager = marker(async ({ client }, { metadata }) => {
    const { data } = await client.get(ConfigMap, metadata as { namespace: string; name: string });
    return data?.["text"] ?? "seen";
  });
  const { divergence } = await replay(recording, { setup: eager });
  expect(divergence?.request).toMatchObject({ m: "GET" });
});

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The operator in a replay: it uses what it used when it was recorded, and then differs. */
const differing = (use: () => unknown): OperatorSetup =>
  marker(async () => {
    await use();
    return "other";
  });

it.for<readonly [string, () => unknown]>([
  ["Math.random", () => Math.random()],
  ["crypto.randomUUID", () => crypto.randomUUID()],
  ["crypto.randomUUID", () => randomUUID()],
  ["crypto.getRandomValues", () => crypto.getRandomValues(new Uint8Array(8))],
  ["crypto.getRandomValues", () => getRandomValues(new Uint8Array(8))],
  ["crypto.createSign", () => createSign("sha256").update("text").sign(keys.privateKey)],
  ["crypto.randomFillSync", () => randomFillSync(new Uint8Array(8))],
  ["crypto.generateKeyPairSync", () => generateKeyPairSync("ed25519")],
  ["Date.now", () => Date.now()],
  ["new Date", () => new Date().toISOString()],
  ["performance.now", () => performance.now()],
  ["process.hrtime", () => process.hrtime()],
  ["process.hrtime.bigint", () => process.hrtime.bigint()],
  ["process.uptime", () => process.uptime()],
  ["process.memoryUsage", () => process.memoryUsage()],
  ["process.env.HOME", () => process.env["HOME"]],
  ["process.env.HOME", () => "HOME" in process.env],
  ["os.hostname", () => hostname()],
  ["fs.readFileSync", () => readFileSync(file)],
  ["fs.existsSync", () => existsSync(file)],
  ["child_process.execFileSync", () => execFileSync(process.execPath, ["-v"])],
])("names %s with its stack, and gives no verdict", async ([name, use]) => {
  const recording = await record(marker(use));
  const ended = replay(recording, { setup: differing(use) });
  await expect(ended).rejects.toThrow(`the operator used ${name}, which no recording has`);
  await expect(ended).rejects.toThrow("replay.test.ts");
});

it("names all that the operator used", async () => {
  const using = (text: string): OperatorSetup =>
    marker(() => [Date.now() > 0, Math.random() < 1, text]);
  const recording = await record(using("seen"));
  await expect(replay(recording, { setup: using("other") })).rejects.toThrow(
    "the operator used Date.now, which no recording has; use clock, random or link of its context (also used: Math.random)",
  );
});

it("shows a call that a killed process has not made, with patience too", async () => {
  const eager: OperatorSetup = marker(({ client }) => {
    void client.patch(ConfigMap, ann, { data: { extra: "yes" } }).catch(() => {});
    return "seen";
  });
  const cut = await withoutStop(await record(marker(() => "seen")));
  for (const patience of [0, 20]) {
    const { divergence } = await replay(cut, { setup: eager, patience });
    expect(divergence?.request).toMatchObject({ m: "PATCH" });
    const same = await replay(cut, { setup: marker(() => "seen"), patience });
    expect(same.divergence).toBeUndefined();
  }
});

/** Another process or thread answers. */
async function askThread(): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  const answer = once(port1, "message");
  port2.postMessage("hello");
  await answer;
  port1.close();
  return "heard";
}

it.for<readonly [string, () => Promise<unknown>]>([
  ["setTimeout", () => sleep(1)],
  [
    "setTimeout",
    () => new Promise((resolve) => AbortSignal.timeout(1).addEventListener("abort", resolve)),
  ],
  ["setImmediate", () => immediate()],
  ["a call of node:fs", async () => (await readFile(file)).length],
  ["a call of node:fs", async () => (await opendir(dirname(file))).close()],
  ["node:crypto in a thread", () => crypto.subtle.digest("SHA-256", Buffer.from("text"))],
  ["node:zlib", () => promisify(deflate)("text")],
  ["fetch", () => fetch("http://127.0.0.1:9/").catch(() => {})],
  ["the network", () => new Promise((resolve) => connect(9, "127.0.0.1").on("error", resolve))],
  ["another process or thread", askThread],
  ["another process or thread", () => promisify(execFile)(process.execPath, ["-v"])],
])("names %s with its stack, and says of no request that it differs", async ([name, wait]) => {
  const recording = await record(marker(wait), undefined, (clock) => ({ clock }));
  for (const setup of [marker(wait), differing(wait)]) {
    // It may end in the same turn as it did in the recording: then nothing differs.
    const named = await replay(recording, { setup }).then(
      ({ divergence, foreign }) => {
        expect(divergence).toBeUndefined();
        return foreign.map((one) => `${one.name}\n${one.stack}`).join("\n");
      },
      (error: Error) => error.message,
    );
    expect(named).toContain(name);
    expect(named).toContain("replay.test.ts");
  }
});

it.for<readonly [string, (event: Promise<unknown>, emitter: EventEmitter) => Promise<unknown>]>([
  ["a promise that other code settles", (event) => event],
  ["an event of an emitter of other code", (_, emitter) => once(emitter, "open")],
])("names the call that comes of %s, and gives no verdict", async ([, wait]) => {
  const emitter = new EventEmitter();
  const opened = once(emitter, "open");
  const setup = marker(() => wait(opened, emitter));
  const recording = await record(setup, async (_, clock) => {
    emitter.emit("open");
    await clock.sleep(1_000);
  });
  const cause = "the operator used an event or a promise of other code, which no recording has";
  for (const again of [setup, marker(() => wait(new Promise(() => {}), new EventEmitter()))]) {
    const ended = replay(recording, { setup: again });
    await expect(ended).rejects.toThrow(cause);
    await expect(ended).rejects.toThrow("replay.test.ts");
  }
});

it("differs if the operator fails at its end, and did not, or does not, and did", async () => {
  const ending = (fails: boolean): OperatorSetup => {
    const run = async (signal: AbortSignal): Promise<void> => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (fails) throw new RangeError("no more");
    };
    return async (context) => {
      const start = (await plain(context)) as StartWork;
      return (leadership) => [...start(leadership), { name: "ending", run }];
    };
  };
  const well = await record(ending(false));
  const { divergence } = await replay(well, { setup: ending(true) });
  expect(divergence?.text).toMatch(/^the operator fails: .*, and in the recording it ends\n/);
  const failed = await record(ending(true), undefined, undefined, "no more");
  expect((await replay(failed, { setup: ending(true) })).divergence).toBeUndefined();
  const mended = await replay(failed, { setup: ending(false) });
  expect(mended.divergence?.text).toMatch(/^the operator ends, and in the recording it fails: /);
});

/** A clock on which each read takes 0.7 ms, as on a busy machine, and whose wall clock is set now and then. */
class BusyClock extends BaseClock {
  readonly #clock: Clock;
  #reads = 0;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  override now(): number {
    return this.monotonic() + 1e12 + Math.floor(this.#reads / 500) * 3_600_000;
  }

  override monotonic(): number {
    this.#reads += 1;
    return this.#clock.monotonic() + this.#reads * 0.7;
  }

  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return this.#clock.afterFunc(delay, fire, options);
  }
}

it("gives the operator the same times again, though time passes while it works", async () => {
  const setup = marker(({ clock }) => {
    const reads = Array.from({ length: 20 }, () => clock.monotonic());
    return [...reads, clock.now()].join();
  });
  const play = async (_: FakeApi, clock: FakeClock): Promise<void> => await clock.sleep(120_000);
  const recording = await record(setup, play, (clock) => ({ clock: new BusyClock(clock) }));
  const kinds = [...recording.lines()].map(({ k, w }) => (w === undefined ? k : "wall"));
  expect(kinds.filter((kind) => kind === "R").length).toBeGreaterThan(5);
  expect(kinds).toContain("wall");
  const report = await replay(recording, { setup });
  expect([report.divergence?.text, report.timers]).toEqual([undefined, []]);
});

it("waits with patience for a request that comes from a thread", async () => {
  let held = (work: Promise<Buffer>): Promise<Buffer> => work;
  const setup = marker(async () => (await held(readFile(file))).length);
  const recording = await record(setup, undefined, (clock) => {
    held = (work) => clock.external(work); // no time passes meanwhile
    return {};
  });
  held = (work) => work;
  const { divergence, foreign } = await replay(recording, { setup, patience: 60_000 });
  expect(divergence).toBeUndefined();
  expect(foreign.map(({ name }) => name)).toContain("a call of node:fs");
});

it("puts back all that it watches", async () => {
  const before = [Math.random, Date, crypto.randomUUID, performance.now, randomUUID];
  const recording = await record(plain);
  await replay(recording, { setup: plain });
  expect([Math.random, Date, crypto.randomUUID, performance.now, randomUUID]).toEqual(before);
});

/** Before Node 24 each storage that was ever used makes all promises of the process slower. */
it.for(["an operator with slots", "a recording of a linked system", "a replay", "a shadow"])(
  "%s has no storage of an async context of its own",
  async (door) => {
    const used = new Set<unknown>();
    const enter = AsyncLocalStorage.prototype.run;
    const spy = vi.spyOn(AsyncLocalStorage.prototype, "run").mockImplementation(function run(
      this: AsyncLocalStorage<unknown>,
      ...entered
    ) {
      used.add(this);
      return enter.apply(this, entered);
    });
    onTestFinished(() => spy.mockRestore());
    const shop = { price: async () => 5 };
    const setup = marker(async ({ link }) => await link(shop, "shop").price());
    const recording = await record(setup);
    const doors: { [name: string]: () => Promise<unknown> } = {
      "an operator with slots": () =>
        record(plain, undefined, () => ({
          leaderElection: false,
          shards: { count: 2, namespace: "default" },
        })),
      "a recording of a linked system": () => record(setup),
      "a replay": () => replay(recording, { setup }),
      "a shadow": () => shadow(recording, { setup, upgradeFrom: setup, timings: 1 }),
    };
    expect(Object.keys(doors)).toContain(door);
    await doors[door]?.();
    const before = used.size;
    expect(before).toBeGreaterThan(0);
    await doors[door]?.();
    expect(used.size).toBe(before);
  },
);

it("answers calls of linked systems from the recording, and makes none", async () => {
  let calls = 0;
  const shop = {
    price: async (name: string) => {
      calls += 1;
      if (name === "bad") throw Object.assign(new Error("no such thing"), { code: "E_SHOP" });
      const page = { at: new URL("https://shop.example/"), names: /^t/ };
      return { name, prices: new Map([["EUR", 5n]]), since: new Date(0), page };
    },
    shelf: (number: number) => ({ count: async () => number + ++calls }),
  };
  const setup = marker(async ({ link }) => {
    const { price, shelf } = link(shop, "shop");
    const { prices, since, page } = await price("tea");
    const error = await price("bad").catch((reason: Error & { code?: string }) => reason);
    const count = await shelf(10).count();
    const { code } = error as { code?: string };
    return [
      prices.get("EUR"),
      since.toISOString(),
      page.at.host,
      page.names.test("tea"),
      code,
      count,
    ];
  });
  const recording = await record(setup);
  expect(calls).toBe(3);
  const report = await replay(recording, { setup });
  expect([report.divergence?.text, report.foreign, calls]).toEqual([undefined, [], 3]);
});

/** An amount whose fields nobody sees, but for JSON. */
class Amount {
  readonly #cents: number;

  constructor(cents: number) {
    this.#cents = cents;
  }

  toJSON(): string {
    return `${this.#cents} cents`;
  }
}

it.for<readonly [string, (end: number) => unknown]>([
  ["a long text", (end) => "x".repeat(1e5) + end],
  ["a URL", (end) => ({ at: new URL(`https://shop.example/${end}`) })],
  ["a RegExp", (end) => new RegExp(`${end}`)],
  ["a query", (end) => new URLSearchParams({ page: `${end}` })],
  ["a buffer", (end) => new Uint8Array([end]).buffer],
  ["a part of a buffer", (end) => new DataView(new Uint8Array([0, end]).buffer, 1)],
  ["several errors", (end) => new AggregateError([new Error(`${end}`)])],
  ["a part with methods", (end) => ({ use() {}, part: { end, use() {} } })],
  ["an object with a form for JSON", (end) => [new Amount(end)]],
])("compares the whole of an argument of a linked system: %s", async ([, argument]) => {
  const writing = (end: number): OperatorSetup =>
    marker(({ link }) => link({ put: async (_: unknown) => "seen" }, "shop").put(argument(end)));
  const recording = await record(writing(1));
  expect((await replay(recording, { setup: writing(1) })).divergence).toBeUndefined();
  expect((await replay(recording, { setup: writing(2) })).divergence?.path).toBe("c");
});

/** Copies the data of a Secret, and what is made of it, to a ConfigMap, and to another Secret. */
const copier: OperatorSetup = ({ cluster, client, controller }) => {
  const secrets = cluster.watch(Secret);
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  return () => [
    controller({
      name: "copier",
      sources: [secrets.source()],
      async reconcile({ key, signal }) {
        const data = secrets.get(key)?.data ?? {};
        const text = Buffer.from(data["value"] ?? "", "base64").toString();
        const made = {
          text,
          hash: digest(text),
          all: digest(JSON.stringify(data)),
          json: JSON.stringify({ text }),
        };
        await client.apply(ConfigMap, { metadata: ann, data: made }, { signal });
        await client.apply(Secret, { metadata: { ...ann, name: "copy" }, data }, { signal });
      },
    }),
  ];
};

const secretText = fc
  .string({ unit: "grapheme", minLength: 8, maxLength: 60 })
  .filter((text) => text.trim() !== "" && Buffer.from(text).toString() === text);

it("has no value of a Secret and nothing made of it, and replays what the operator made of it", async () => {
  await fc.assert(
    fc.asyncProperty(secretText, async (value) => {
      const recording = await record(copier, async ({ client }, clock) => {
        const data = { value: Buffer.from(value).toString("base64") };
        await client.create(Secret, { metadata: { ...ann, name: "secret" }, data });
        await clock.sleep(1_000);
      });
      const { divergence } = await replay(recording, { setup: copier });
      expect(divergence?.text).toBeUndefined();
      const text = recording.files.map((file) => gunzipSync(readFileSync(file))).join("\n");
      expect(text).toContain("redacted-");
      const escaped = JSON.stringify(value).slice(1, -1);
      for (const form of [value, escaped, JSON.stringify(escaped).slice(1, -1)])
        if (!/^[\s\w]*$/.test(form) || form.length > 12) expect(text).not.toContain(form);
      expect(text).not.toContain(Buffer.from(value).toString("base64"));
      expect(text).not.toContain(createHash("sha256").update(value).digest("hex"));
    }),
    { numRuns: 15 },
  );
});

it("replays an operator that draws a password, and uses it beside the Secret", async () => {
  const setup: OperatorSetup = ({ cluster, client, controller, random = () => 0 }) => {
    const maps = cluster.watch(ConfigMap);
    return () => [
      controller({
        name: "passwords",
        sources: [maps.source()],
        async reconcile({ key, signal }) {
          if (maps.get(key)?.data?.["url"] !== undefined) return;
          const password = `${random()}`;
          const data = { value: Buffer.from(password).toString("base64") };
          await client.apply(Secret, { metadata: { ...ann, name: "drawn" }, data }, { signal });
          const hash = createHash("sha256").update(password).digest("hex");
          const url = `postgres://app:${password}@db`;
          await client.patch(ConfigMap, key, { data: { url, hash } }, { signal });
        },
      }),
    ];
  };
  const recording = await record(setup);
  expect(JSON.stringify([...recording.lines()])).toContain("postgres://app:redacted-");
  const report = await replay(recording, { setup });
  expect([report.divergence?.text, report.foreign]).toEqual([undefined, []]);
});

it("replays a recording that was cut at any byte, and refuses one that lacks bytes in its middle", async () => {
  const recording = await record(plain);
  const [path = ""] = recording.files;
  const whole = readFileSync(path);
  const cutAt = async (at: number): Promise<string | undefined> => {
    writeFileSync(path, whole.subarray(0, at));
    const ended = openRecording(path).then((opened) => replay(opened, { setup: plain }));
    return await ended.then(
      ({ divergence }) => divergence?.text,
      ({ message }: Error) =>
        /:1: damaged: a recording begins with its head/.test(message) ? undefined : message,
    );
  };
  for (let at = 0; at < whole.length; at += at < whole.length - 20 ? 97 : 1)
    expect([at, await cutAt(at)]).toEqual([at, undefined]);

  const lines = gunzipSync(whole).toString().trimEnd().split("\n");
  const half = lines.length >> 1;
  const head = lines[0] as string;
  const next = [head.replace('"segment":1', '"segment":2'), ...lines.slice(half)];
  const first = gzipSync(`${lines.slice(0, half).join("\n")}\n`);
  const path2 = path.replace("000001", "000002");
  writeFileSync(path2, gzipSync(`${next.join("\n")}\n`));
  for (const cut of [first.length, first.length - 1, first.length - 30]) {
    writeFileSync(path, first.subarray(0, cut));
    const ended = replay(await openRecording(path), { setup: plain });
    if (cut === first.length) expect((await ended).divergence).toBeUndefined();
    else await expect(ended).rejects.toThrow(/has a gap, .*000001\.flight\.gz is cut, in /);
  }
});

it("replays a recording that was cut, and refuses one that is damaged or has a gap", async () => {
  const recording = await record(plain);
  const [path = ""] = recording.files;
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n");
  const { directory } = recording;
  const write = (changed: readonly string[], tail = "\n"): void =>
    writeFileSync(path, gzipSync(changed.join("\n") + tail));

  for (const kept of [2, 10, 25, lines.length - 1]) {
    write(lines.slice(0, kept), '\n{"k":"T","t":');
    const report = await replay(await openRecording(directory), { setup: plain });
    expect([kept, report.divergence?.text]).toEqual([kept, undefined]);
  }
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.length - 20)); // as after `kill -9`
  await replay(await openRecording(directory), { setup: plain });

  write([...lines.slice(0, 10), "{", ...lines.slice(10)]);
  const damaged = replay(await openRecording(directory), { setup: plain });
  await expect(damaged).rejects.toThrow(`${path}:11: damaged: `);

  write([...lines.slice(0, 10), '{"k":"gap","lost":7}', ...lines.slice(10)]);
  const gap = replay(await openRecording(directory), { setup: plain });
  await expect(gap).rejects.toThrow("the recording has a gap, 7 lines are lost");

  const { k, ...head } = JSON.parse(lines[0] as string) as Line;
  write([JSON.stringify({ k, ...head, v: 2 }), ...lines.slice(1)]);
  await expect(openRecording(directory)).rejects.toThrow("format 2 is not known");

  write([JSON.stringify({ k, ...head, segment: 2 }), ...lines.slice(1)]);
  await expect(replay(await openRecording(directory), { setup: plain })).rejects.toThrow(
    "the first segment of the process must be there, got segment 2",
  );
  expect(readdirSync(directory)).toEqual([expect.stringMatching(/^marker-.*-000001\.flight\.gz$/)]);
  expect(join(directory, readdirSync(directory)[0] as string)).toBe(path);
});
