import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type CachedObject,
  type FinalizeOptions,
  finalize,
  KubeClient,
  type KubeObject,
  type KubeRequest,
  removeFinalizer,
} from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import { plain404 } from "../plain-404.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const NAME = "example.org/cleanup";
const OTHER = "example.org/other";
const REF = "default/ann";
const KEY = { namespace: "default", name: "ann" };

let api: FakeApi;
let client: KubeClient;
let calls: string[];
let sent: KubeRequest[];
/** Runs before the request is served. */
let before: (request: KubeRequest) => Promise<void>;

beforeEach(() => {
  const clock = new FakeClock();
  api = new FakeApi({ clock, resources: [ConfigMap] });
  calls = [];
  sent = [];
  before = async () => {};
  const transport = {
    ...api.transport,
    send: async (request: KubeRequest, signal: AbortSignal) => {
      sent.push(request);
      await before(request);
      return await api.transport.send(request, signal);
    },
  };
  client = new KubeClient({ transport, clock });
});

/** The server's own client: its requests are not among those that are sent. */
const admin = (): KubeClient => new KubeClient({ transport: api.transport });

async function stored(finalizers?: string[]): Promise<CachedObject<KubeObject>> {
  return (await admin().create(ConfigMap, { metadata: { ...KEY, finalizers } })) as never;
}

const options: FinalizeOptions<KubeObject> = {
  finalizer: NAME,
  apply: ({ metadata }) => void calls.push(`apply ${metadata.finalizers?.join()}`),
  cleanup: ({ metadata }) => void calls.push(`cleanup ${metadata.finalizers?.join()}`),
};

const run = (object: CachedObject<KubeObject>, changed: Partial<typeof options> = {}) =>
  finalize(client, ConfigMap, object, { ...options, ...changed });

const finalizers = async (): Promise<readonly string[] | undefined> =>
  (await admin().find(ConfigMap, REF))?.metadata.finalizers;

const patches = (): unknown[] =>
  sent.filter(({ method }) => method === "PATCH").map(({ body }) => JSON.parse(body ?? ""));

/** Deletes an object with finalizers, and returns it as it is then. */
async function deleted(...names: string[]): Promise<CachedObject<KubeObject>> {
  await stored(names);
  await admin().delete(ConfigMap, REF);
  return (await admin().get(ConfigMap, REF)) as never;
}

describe("finalize", () => {
  it("adds the finalizer before it applies, with and without an existing list", async () => {
    const object = await stored();
    await run(object);
    expect(calls).toEqual([`apply ${NAME}`]);
    expect(patches()).toEqual([
      [
        { op: "test", path: "/metadata/uid", value: object.metadata.uid },
        { op: "test", path: "/metadata/finalizers", value: null },
        { op: "add", path: "/metadata/finalizers", value: [NAME] },
      ],
    ]);
    await admin().patch(ConfigMap, REF, { metadata: { finalizers: [OTHER] } });
    await run((await admin().get(ConfigMap, REF)) as never);
    expect(calls[1]).toBe(`apply ${OTHER},${NAME}`);
  });

  it("applies without a request when the finalizer is there, and returns its result", async () => {
    const object = await stored([OTHER, NAME]);
    const result = await run(object, { apply: () => ({ requeueAfter: 60_000 }) });
    expect([result, sent]).toEqual([{ requeueAfter: 60_000 }, []]);
  });

  it("removes its own finalizer at its index when cleanup has returned nothing", async () => {
    const object = await deleted(OTHER, NAME, "example.org/third");
    await run(object);
    expect(calls).toEqual([`cleanup ${OTHER},${NAME},example.org/third`]);
    expect(patches()).toEqual([
      [
        { op: "test", path: "/metadata/uid", value: object.metadata.uid },
        { op: "test", path: "/metadata/finalizers/1", value: NAME },
        { op: "remove", path: "/metadata/finalizers/1" },
      ],
    ]);
    expect(await finalizers()).toEqual([OTHER, "example.org/third"]);
  });

  it("lets the object go when its finalizer was the last", async () => {
    await run(await deleted(NAME));
    expect(await admin().find(ConfigMap, REF)).toBeUndefined();
  });

  it("keeps the finalizer when cleanup fails", async () => {
    const object = await deleted(NAME);
    const error = new Error("the provider is away");
    const cleanup = () => Promise.reject(error);
    await expect(run(object, { cleanup })).rejects.toBe(error);
    expect([await finalizers(), sent]).toEqual([[NAME], []]);
  });

  it("keeps the finalizer when cleanup requests another run", async () => {
    const object = await deleted(NAME);
    const result = await run(object, { cleanup: () => ({ requeueAfter: 5_000 }) });
    expect([result, await finalizers()]).toEqual([{ requeueAfter: 5_000 }, [NAME]]);
  });

  it("calls nothing for an object that is being deleted without its finalizer", async () => {
    await run(await deleted(OTHER));
    expect([calls, sent]).toEqual([[], []]);
  });

  it("adds nothing to an object deleted meanwhile", async () => {
    const object = await stored([OTHER]);
    await admin().delete(ConfigMap, REF);
    await run(object);
    expect([calls, await finalizers()]).toEqual([[], [OTHER]]);
    expect(sent.map(({ method }) => method)).toEqual(["PATCH", "GET"]);
  });

  it("adds its finalizer once, even with an outdated copy", async () => {
    const old = await stored([OTHER]);
    await run(old);
    await run(old);
    expect(await finalizers()).toEqual([OTHER, NAME]);
    expect(calls).toEqual([`apply ${OTHER},${NAME}`, `apply ${OTHER},${NAME}`]);
  });

  it("lets two owners add and remove finalizers concurrently, in any order", async () => {
    const object = await stored();
    const both = (given: CachedObject<KubeObject>) =>
      Promise.all(
        [NAME, OTHER].map((finalizer) =>
          finalize(client, ConfigMap, given, { ...options, finalizer }),
        ),
      );
    await both(object);
    expect([...((await finalizers()) ?? [])].sort()).toEqual([NAME, OTHER]);
    await admin().delete(ConfigMap, REF);
    await both((await admin().get(ConfigMap, REF)) as never);
    expect(await admin().find(ConfigMap, REF)).toBeUndefined();
    expect(calls).toHaveLength(4);
  });

  it("reads again at most 5 times while the list moves, then rejects with the 422", async () => {
    const object = await stored();
    let moves = 0;
    before = async ({ method }) => {
      if (method !== "PATCH") return;
      const list = [`example.org/x${++moves}`];
      await admin().patch(ConfigMap, REF, { metadata: { finalizers: list } });
    };
    await expect(run(object)).rejects.toMatchObject({ status: 422 });
    expect(sent.map(({ method }) => method).join()).toBe(
      "PATCH,GET,PATCH,GET,PATCH,GET,PATCH,GET,PATCH,GET,PATCH",
    );
    expect([await finalizers(), calls]).toEqual([["example.org/x6"], []]);
  });

  it.each([
    ["is gone", async () => {}],
    ["was made again under its name", async () => void (await stored())],
  ])("does nothing to an object that %s", async (_name, after) => {
    const object = await stored();
    await admin().delete(ConfigMap, REF);
    await after();
    await run(object);
    expect([calls, await finalizers()]).toEqual([[], undefined]);
  });

  it.each<[string, () => Promise<CachedObject<KubeObject>>]>([
    ["lives", () => stored()],
    ["is being deleted", () => deleted(NAME)],
  ])(
    "rejects with a plain 404 while an object %s: the server is starting",
    async (_name, given) => {
      const object = await given();
      const before404 = await finalizers();
      api.intercept({ fault: plain404, verbs: ["patch"], times: 1 });
      await expect(run(object)).rejects.toMatchObject({ status: 404, reason: "" });
      expect(await finalizers()).toEqual(before404);
      await run(object);
      expect(await finalizers()).toEqual(before404 === undefined ? [NAME] : undefined);
    },
  );

  it("counts an object removed during its cleanup as done", async () => {
    const object = await deleted(NAME);
    const cleanup = async (): Promise<void> => {
      await admin().patch(ConfigMap, REF, { metadata: { finalizers: [] } });
    };
    expect(await run(object, { cleanup })).toBeUndefined();
  });

  it("rejects with the reason when aborted, and with other errors of the server", async () => {
    const object = await stored();
    const reason = new Error("stop");
    const signal = AbortSignal.abort(reason);
    await expect(run(object, { signal })).rejects.toBe(reason);
    api.stop();
    await expect(run(object)).rejects.toThrow("ECONNREFUSED");
    expect(calls).toEqual([]);
  });

  it.each<[object, string]>([
    [{ client: {} }, "client must have a method find()"],
    [{ object: {} }, "object.metadata must be an object"],
    [{ object: { metadata: { name: "a" } } }, "object.metadata.uid must be a string"],
    [
      { options: { ...options, finalizer: "cleanup" } },
      'options.finalizer must be a finalizer such as "example.org/cleanup", got "cleanup"',
    ],
    [
      { options: { ...options, finalizer: "example.org/a/b" } },
      "options.finalizer must be a finalizer",
    ],
    [{ options: { ...options, cleanup: 5 } }, "options.cleanup must be a function"],
  ])("refuses %o", async (wrong, message) => {
    const right = { client, object: await stored(), options };
    const given = { ...right, ...wrong } as typeof right;
    await expect(finalize(given.client, ConfigMap, given.object, given.options)).rejects.toThrow(
      message,
    );
  });
});

describe("removeFinalizer", () => {
  const remove = (object: CachedObject<KubeObject>) =>
    removeFinalizer(client, ConfigMap, object, { finalizer: NAME });

  it("removes it from an object that lives, and leaves the others", async () => {
    await remove(await stored([OTHER, NAME]));
    expect(await finalizers()).toEqual([OTHER]);
  });

  it("sends nothing for an object without it", async () => {
    await remove(await stored([OTHER]));
    expect(sent).toEqual([]);
  });

  it("reads again if the list has moved", async () => {
    const object = await stored([OTHER, NAME]);
    await admin().patch(ConfigMap, REF, { metadata: { finalizers: [NAME] } });
    await remove(object);
    expect(await finalizers()).toBeUndefined();
  });

  it("leaves an object that was made anew, and one that is gone", async () => {
    const object = await stored([NAME]);
    await admin().patch(ConfigMap, REF, { metadata: { finalizers: null } });
    await admin().delete(ConfigMap, REF);
    await remove(object);
    await stored([NAME]);
    await remove(object);
    expect(await finalizers()).toEqual([NAME]);
  });
});
