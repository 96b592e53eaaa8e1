import { pbkdf2Sync, randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, type Recording } from "@holdfast/controller/recording";
import { FakeApi, type ShadowOptions, type ShadowReport, shadow } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  type KubeObject,
  type OperatorContext,
  type OperatorSetup,
  ownerReference,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, it, onTestFinished, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { withoutStop } from "./without-stop.ts";

type Map = KubeObject & { data?: { [name: string]: string } };
type Deploy = KubeObject & { spec?: object; status?: object };
const ConfigMap = builtIn<Map>("v1", "ConfigMap");
const Deployment = builtIn<Deploy>("apps/v1", "Deployment");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const Extra = customResource({ apiVersion: "example.org/v1", kind: "Extra", plural: "extras" });
const resources = [ConfigMap, Deployment, Lease];
const at = (name: string) => ({ namespace: "default", name });

interface Marker {
  /** The text of a ConfigMap. Undefined: none. */
  readonly text?: (name: string, context: OperatorContext) => unknown;
  /** Whether it writes again and again. */
  readonly loops?: boolean;
  /** The image of the Deployment that it makes. Undefined: none. */
  readonly image?: string;
  readonly more?: (context: OperatorContext) => Promise<unknown>;
}

/** Writes a text to each ConfigMap, and makes a Deployment of it. */
const marker =
  ({ text = () => "seen", loops = false, image, more }: Marker): OperatorSetup =>
  (context) => {
    const { client, cluster, controller } = context;
    const maps = cluster.watch(ConfigMap);
    if (image !== undefined) cluster.watch(Deployment);
    return () => [
      controller({
        name: "marker",
        sources: [maps.source()],
        async reconcile({ key, signal }) {
          const map = maps.get(key);
          if (map === undefined) return;
          const wanted = await text(map.metadata.name, context);
          const count = Number(map.data?.["count"] ?? 0) + 1;
          const data = { text: `${wanted}`, ...(loops && { count: `${count}` }) };
          if (wanted !== undefined && (loops || map.data?.["text"] !== data.text))
            await client.patch(ConfigMap, key, { data }, { signal });
          await more?.(context);
          if (image === undefined) return;
          const ownerReferences = [ownerReference(ConfigMap, map)];
          const metadata = { ...at(map.metadata.name), ownerReferences };
          const spec = { template: { image } };
          await client.apply(Deployment, { metadata, spec }, { signal });
        },
      }),
    ];
  };

/** Records an operator on a fake server, with three ConfigMaps. */
async function record(
  setup: OperatorSetup,
  play?: (api: FakeApi, clock: FakeClock) => Promise<void>,
  begin?: (api: FakeApi) => void,
): Promise<Recording> {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources });
  begin?.(api);
  await clock.run(async () => {
    const stop = new AbortController();
    const options = { name: "marker", transport: api.transport, setup, clock } as const;
    const rest = { health: false, leaderElection: { namespace: "default" } } as const;
    const running = runOperator(
      { ...options, ...rest, logger: silentLogger, recording: { directory } },
      stop.signal,
    );
    for (const name of ["ann", "bob", "eve"]) {
      await api.client.create(ConfigMap, { metadata: at(name) });
      await clock.sleep(2_000);
    }
    await play?.(api, clock);
    stop.abort(new Error("enough"));
    await running;
  });
  return await openRecording(directory);
}

/** A shadow with few timings. */
const tried = (recording: Recording, options: ShadowOptions): Promise<ShadowReport> =>
  shadow(recording, { timings: 2, ...options });

const nothing = { news: [], lost: [], orphans: [], loop: undefined, foreign: [] };
const plain = marker({});

it("has nothing of the same operator", async () => {
  const setup = marker({ image: "a" });
  const recording = await record(setup);
  expect(await shadow(recording, { upgradeFrom: setup, setup })).toEqual(nothing);
});

it("knows a resource whose first answer is a Status", async () => {
  let left = 1;
  const recording = await record(plain, undefined, (api) =>
    api.intercept({
      fault: { type: "status", status: 503 },
      when: ({ method, path }) => method === "GET" && path.includes("/configmaps") && left-- > 0,
    }),
  );
  expect([...recording.lines()].some(({ k, s }) => k === "h" && s === 503)).toBe(true);
  const report = await tried(recording, {
    upgradeFrom: plain,
    setup: marker({ text: () => "new" }),
  });
  const written = ({ news }: ShadowReport): string[] => news.map(({ request }) => request);
  expect(written(report)).toEqual(
    ["ann", "bob", "eve"].map((name) => `patch configmaps default/${name}`),
  );
});

it("meets each object at any instant", async () => {
  const random = seededRandom(1);
  const names = Array.from({ length: 100 }, (_, number) => `map-${number}`);
  const recording = await record(plain, async (api, clock) => {
    for (const name of names) {
      await api.client.create(ConfigMap, { metadata: at(name) });
      await clock.sleep(random() * 10);
    }
  });
  const { news } = await shadow(recording, {
    upgradeFrom: plain,
    setup: marker({ text: () => "new" }),
    timings: 1,
  });
  const written = ["ann", "bob", "eve", ...names].map((name) => `patch configmaps default/${name}`);
  expect(news.map(({ request }) => request)).toEqual(written);
});

it("has exactly the write of which a text is another, and only that of its object", async () => {
  const recording = await record(plain);
  const other = marker({ text: (name) => (name === "bob" ? "other" : "seen") });
  const write = { request: "patch configmaps default/bob", refused: undefined, times: 1 };
  expect(await tried(recording, { upgradeFrom: plain, setup: other })).toEqual({
    ...nothing,
    news: [{ ...write, body: { data: { text: "other" } }, at: expect.any(Number) }],
    lost: [{ ...write, body: { data: { text: "seen" } }, at: expect.any(Number) }],
  });
});

it("has the write that an operator makes no longer, and one that it makes besides", async () => {
  const both = marker({ image: "a" });
  const recording = await record(both);
  const less = await tried(recording, { upgradeFrom: both, setup: plain });
  const names = (writes: readonly { readonly request: string }[]) =>
    writes.map(({ request }) => request);
  const deployments = ["ann", "bob", "eve"].map((name) => `apply deployments.apps default/${name}`);
  expect([names(less.news), names(less.lost)]).toEqual([[], deployments]);
  const more = await tried(await record(plain), { upgradeFrom: plain, setup: both, resources });
  expect([names(more.news), names(more.lost)]).toEqual([deployments, []]);
});

it("leaves out the writes that normalise leaves out, and parts that it takes away", async () => {
  const recording = await record(plain);
  const setup = marker({ text: (name) => `${name}!` });
  const normalise = (object: KubeObject) => {
    if (object.metadata?.name === "ann") return undefined;
    return object.metadata?.name === "bob" ? { ...object, data: {} } : object;
  };
  const { news, lost } = await tried(recording, { upgradeFrom: plain, setup, normalise });
  const requests = [...news, ...lost].map(({ request }) => request);
  expect(requests).toEqual(["patch configmaps default/eve", "patch configmaps default/eve"]);
});

it("gives a verdict if the time or chance that it used changes no write", async () => {
  const recording = await record(plain);
  const setup = marker({ text: () => (new Date() === undefined ? "" : "other") });
  const { news } = await tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  expect(news).toHaveLength(3);
});

it("reports a hot loop and ends it", async () => {
  const recording = await record(plain);
  const setup = marker({ loops: true });
  const { loop, lost, news } = await tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  expect(loop).toMatch(/^PATCH \/api\/v1\/namespaces\/default\/configmaps\/\w+, \d{3,} times$/);
  expect(lost).toEqual([]);
  expect(news.length).toBeGreaterThan(100);
  const looping = tried(recording, { upgradeFrom: setup, setup, timings: 1 });
  await expect(looping).rejects.toThrow(
    "shadow: upgradeFrom must be the recorded operator; it loops: PATCH",
  );
});

/** Others roll the Deployment out. */
async function rollOut({ client }: FakeApi, clock: FakeClock): Promise<void> {
  await client.patch(Deployment, at("bob"), { status: { ready: 1 } }, { subresource: "status" });
  await client.patch(ConfigMap, at("eve"), { metadata: { labels: { by: "users" } } });
  await clock.sleep(1_000);
}

it("names the changes of others that meet another object", async () => {
  const old = marker({ image: "a" });
  const recording = await record(old, rollOut);
  expect(await tried(recording, { upgradeFrom: old, setup: old })).toEqual(nothing);
  const other = await tried(recording, { upgradeFrom: old, setup: marker({ image: "b" }) });
  expect(other.orphans).toEqual([
    expect.stringMatching(/^deployments\.apps default\/bob: others changed it, version \d+$/),
  ]);
  const none = await tried(recording, { upgradeFrom: old, setup: plain });
  expect(none.orphans).toEqual(other.orphans);
});

it("merges the changes of others into an object that is no longer as recorded", async () => {
  const old = marker({});
  const label = async ({ client }: FakeApi, clock: FakeClock): Promise<void> => {
    await client.patch(ConfigMap, at("bob"), { data: { by: "users" } });
    await clock.sleep(1_000);
  };
  const recording = await record(old, label);
  const seen: unknown[] = [];
  const setup: OperatorSetup = (context) => {
    const maps = context.cluster.watch(ConfigMap);
    const start = marker({ text: () => "other" })(context) as StartWork;
    return (leadership) => [
      ...start(leadership),
      context.controller({
        name: "looker",
        sources: [maps.source()],
        reconcile: async ({ key }) => {
          if (key === "default/bob") seen.push(maps.get(key)?.data);
        },
      }),
    ];
  };
  await tried(recording, { upgradeFrom: old, setup });
  expect(seen.at(-1)).toEqual({ text: "other", by: "users" });
});

it("names an object whose owner the operator deletes", async () => {
  const old = marker({ image: "a" });
  const recording = await record(old);
  const setup = marker({
    image: "a",
    more: async ({ client, clock }) => {
      await clock.sleep(4_000);
      await client.delete(ConfigMap, at("ann"));
    },
  });
  const { orphans, news } = await tried(recording, { upgradeFrom: old, setup });
  expect(orphans).toEqual(["deployments.apps default/ann: its owners are gone"]);
  expect(news.map(({ request }) => request)).toEqual(["delete configmaps default/ann"]);
});

it("answers linked systems from the recording, or calls those of the option world", async () => {
  let calls = 0;
  const shop = {
    price: async (name: string) => {
      calls += 1;
      return `${name} 1`;
    },
  };
  const priced = (of: (name: string) => string): OperatorSetup =>
    marker({ text: (name, { link }) => link(shop, "shop").price(of(name)) });
  const old = priced((name) => name);
  const recording = await record(old);
  const before = calls;
  expect(await tried(recording, { upgradeFrom: old, setup: old })).toEqual(nothing);
  expect(calls).toBe(before);
  const other = await tried(recording, {
    ...{ upgradeFrom: old, timings: 1 },
    setup: priced((name) => (name === "bob" ? "rob" : name)),
  });
  expect(other.news.map(({ request }) => request)).toEqual(['shop.price("rob")']);
  expect(other.lost.map(({ request }) => request)).toEqual([
    'shop.price("bob")',
    "patch configmaps default/bob",
  ]);
  const worlds: string[] = [];
  const worldly = await shadow<typeof shop>(recording, {
    world: () => ({
      price: async (name) => {
        worlds.push(name);
        return "1";
      },
    }),
    upgradeFrom: (context) =>
      marker({ text: (name) => context.link(context.world, "shop").price(name) })(context),
    setup: (context) =>
      marker({ text: (name) => context.link(context.world, "shop").price(name) })(context),
    timings: 1,
  });
  expect(worldly).toEqual(nothing);
  expect(worlds).toContain("eve");
});

const file = fileURLToPath(import.meta.url);

it.for<readonly [string, () => unknown]>([
  ["Math.random", () => Math.random()],
  ["crypto.randomUUID", () => crypto.randomUUID()],
  ["process.hrtime.bigint", () => process.hrtime.bigint()],
  ["a call of node:fs", async () => (await readFile(file)).length],
])("names %s with its stack, and gives no verdict", async ([name, use]) => {
  const recording = await record(plain);
  const shadowed = tried(recording, {
    upgradeFrom: plain,
    setup: marker({ text: use }),
    timings: 1,
  });
  await expect(shadowed).rejects.toThrow(`shadow: no verdict: the operator used ${name}`);
  await expect(shadowed).rejects.toThrow("shadow.test.ts");
});

it("lets an operator stop at once where the recorded one took its time", async () => {
  const slow = marker({ more: () => new Promise(() => {}) });
  const recording = await record(slow);
  const { lost } = await tried(recording, { upgradeFrom: slow, setup: plain });
  expect(lost).toEqual([]);
});

it("names the call that comes of an event of other code, and gives no verdict", async () => {
  const emitter = new EventEmitter();
  const old = marker({ text: async () => (await once(emitter, "open"))[0] });
  const recording = await record(old, async (_, clock) => {
    for (let event = 0; event < 3; event++) {
      emitter.emit("open", "seen");
      await clock.sleep(1_000);
    }
  });
  const shadowed = tried(recording, { upgradeFrom: old, setup: plain });
  await expect(shadowed).rejects.toThrow(
    "shadow: no verdict: the operator used an event or a promise of other code",
  );
  await expect(shadowed).rejects.toThrow("shadow.test.ts");
});

/** Records an operator that needs real time, until all ConfigMaps have its text. */
async function recordWaiting(setup: OperatorSetup): Promise<Recording> {
  return await record(setup, async (api, clock) => {
    const text = async () => (await api.client.get(ConfigMap, at("eve"))).data?.["text"];
    for (let round = 0; (await text()) !== "seen" && round < 100; round++) {
      await clock.external(sleep(20));
      await clock.sleep(1_000);
    }
    expect(await text()).toBe("seen");
  });
}

const extra = ({ client }: OperatorContext): Promise<unknown> =>
  client.patch(ConfigMap, at("ann"), { data: { extra: "yes" } });
const noVerdict = "shadow: no verdict: the operator used setTimeout, which";

it("gives no verdict of a program that waits for the machine, though no write differs", async () => {
  const saying = (text: string): OperatorSetup =>
    marker({
      text: async () => {
        await sleep(200);
        return text;
      },
    });
  const upgradeFrom = saying("seen");
  const recording = await recordWaiting(upgradeFrom);
  const shadowed = tried(recording, { upgradeFrom, setup: saying("other"), timings: 1 });
  await expect(shadowed).rejects.toThrow(noVerdict);
});

it("gives no verdict of one that waits for the machine before it calls a linked system", async () => {
  const calls: string[] = [];
  const dns = { put: async (name: string) => void calls.push(name) };
  const putting = (zone: string): OperatorSetup =>
    marker({
      more: async ({ link }) => {
        await sleep(20);
        await link(dns, "dns").put(zone);
      },
    });
  const upgradeFrom = putting("old");
  const recording = await recordWaiting(upgradeFrom);
  expect(calls).toContain("old");
  const shadowed = tried(recording, { upgradeFrom, setup: putting("new"), timings: 1 });
  await expect(shadowed).rejects.toThrow(noVerdict);
});

it("gives no verdict of a version that waits for the machine before a write of its own", async () => {
  const recording = await record(plain);
  const setup = marker({
    more: async (context) => {
      sleep(20)
        .then(() => extra(context))
        .catch(() => {});
    },
  });
  const shadowed = tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  await expect(shadowed).rejects.toThrow(noVerdict);
});

it("gives no verdict of a version that waits for an event or a promise of other code", async () => {
  const recording = await record(plain);
  const never = new Promise(() => {});
  const inReconcile = marker({
    more: async (context) => {
      await never;
      await extra(context);
    },
  });
  const atBegin: OperatorSetup = async (context) => {
    await never;
    return await marker({ more: extra })(context);
  };
  for (const setup of [inReconcile, atBegin])
    await expect(tried(recording, { upgradeFrom: plain, setup, timings: 1 })).rejects.toThrow(
      "shadow: no verdict: setup or one of its reconciles did not end",
    );
});

it("gives no verdict of a program that does not repeat its writes for a value of the machine", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("HOLDFAST_TEXT", "seen");
  const upgradeFrom = marker({ text: () => process.env["HOLDFAST_TEXT"] });
  const recording = await record(upgradeFrom);
  vi.stubEnv("HOLDFAST_TEXT", undefined);
  const setup = marker({ text: () => process.env["HOLDFAST_TEXT"] && "other" });
  await expect(tried(recording, { upgradeFrom, setup, timings: 1 })).rejects.toThrow(
    "shadow: no verdict: the operator used process.env.HOLDFAST_TEXT, which",
  );
});

it("names a value by which a version may decide, though nothing differs", async () => {
  const recording = await record(plain);
  const setup = marker({
    more: async (context) => {
      if (process.env["HOLDFAST_TEXT"] !== undefined || Math.random() < 0) await extra(context);
    },
  });
  const { foreign, ...rest } = await tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  expect({ ...rest, foreign: [] }).toEqual(nothing);
  expect(foreign.map(({ name }) => name)).toEqual(["process.env.HOLDFAST_TEXT", "Math.random"]);
  expect(foreign[0]?.stack).toContain("shadow.test.ts");
});

it("names a wait behind many values", async () => {
  const recording = await record(plain);
  const setup = marker({
    more: async () => {
      for (let number = 0; number < 30; number++) Reflect.get(process.env, `NUMBER_${number}`);
      await sleep(20);
    },
  });
  const shadowed = tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  await expect(shadowed).rejects.toThrow(noVerdict);
});

it("gives a verdict of a version that waits on its clock when the recording ends", async () => {
  const waiting = (text: string, delay: number): OperatorSetup =>
    marker({
      text: () => text,
      more: ({ clock }) => clock.sleep(delay),
    });
  const upgradeFrom = waiting("seen", 10);
  const recording = await withoutStop(await record(upgradeFrom));
  for (const delay of [1_900, 100_000]) {
    const setup = waiting("seen", delay);
    const { news } = await tried(recording, { upgradeFrom, setup, timings: 1 });
    expect(news).toEqual([]);
  }
});

it("takes no requests after the end of a recording for a loop", async () => {
  const polling = marker({
    more: async ({ client, clock }) => {
      for (;;) {
        await client.get(ConfigMap, at("ann"));
        await clock.sleep(50);
      }
    },
  });
  const recording = await withoutStop(await record(polling));
  const report = await tried(recording, { upgradeFrom: polling, setup: polling, timings: 1 });
  expect(report).toEqual(nothing);
});

it("gives a verdict of a program whose work of the machine ends at once", async () => {
  const recording = await record(plain);
  const setup = marker({
    text: () => {
      gzipSync("text");
      pbkdf2Sync("text", "salt", 1, 8, "sha256");
      randomBytes(8);
      return "other";
    },
  });
  const { news } = await tried(recording, { upgradeFrom: plain, setup, timings: 1 });
  expect(news).toHaveLength(3);
});

it("refuses a resource that it does not know, an operator that fails, and a recording without its begin", async () => {
  const recording = await record(plain);
  const asking = marker({ more: ({ client }) => client.list(Extra).next() });
  await expect(tried(recording, { upgradeFrom: plain, setup: asking })).rejects.toThrow(
    "options.resources must have every resource that the operator uses, if the recording does not name it; it asked for /apis/example.org/v1/extras",
  );
  const failing: OperatorSetup = () => {
    throw new Error("no setup");
  };
  await expect(tried(recording, { upgradeFrom: plain, setup: failing })).rejects.toThrow(
    "shadow: setup fails where upgradeFrom does not",
  );
  await expect(tried(recording, { upgradeFrom: failing, setup: plain })).rejects.toThrow(
    "shadow: upgradeFrom must be the recorded operator; it fails",
  );
  const [path = ""] = recording.files;
  const lines = gunzipSync(readFileSync(path)).toString().split("\n");
  const write = (changed: readonly string[]): void =>
    writeFileSync(path, gzipSync(changed.join("\n")));
  write([...lines.slice(0, 10), '{"k":"gap","lost":7}', ...lines.slice(10)]);
  await expect(tried(recording, { upgradeFrom: plain, setup: plain })).rejects.toThrow(
    "shadow: the recording has a gap",
  );
  write([(lines[0] as string).replace('"segment":1', '"segment":2'), ...lines.slice(1)]);
  const later = await openRecording(path);
  await expect(tried(later, { upgradeFrom: plain, setup: plain })).rejects.toThrow(
    "shadow: the first segment of the process must be there, or a snapshot; got segment 2, and no snapshot in 1 files",
  );
});
