import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, type Leadership, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, KubeClient, type KubeObject, LeaseLock } from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";
import { plain404 } from "../plain-404.ts";

interface LeaseObject extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
    strategy?: string;
  };
}

const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");
const NAME = { namespace: "jobs", name: "janitor" };
const REF = "jobs/janitor";
/** FakeClock's first second. */
const START = 946_684_800;
const record = { holder: "a", leaseDuration: 2_500, acquiredAt: 1, renewedAt: 2.5, transitions: 3 };
const { signal } = new AbortController();

let clock: FakeClock;
let api: FakeApi;
let client: KubeClient;
let lock: LeaseLock;

beforeEach(() => {
  clock = new FakeClock();
  api = new FakeApi({ clock, resources: [Lease] });
  client = new KubeClient({ transport: api.transport, clock });
  lock = new LeaseLock({ client, clock, ...NAME });
});

let locks = 0;
testResourceLock(
  "LeaseLock",
  () => new LeaseLock({ client, clock, ...NAME, name: `lock-${++locks}` }),
);

describe("LeaseLock", () => {
  it("writes times with six digits, whole seconds rounded up, and the token", async () => {
    await lock.create(record, signal);
    const { metadata, spec } = await client.get(Lease, REF);
    expect(metadata.annotations).toEqual({ "holdfast/token": "3" });
    expect(spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 3,
      acquireTime: "1970-01-01T00:00:00.001000Z",
      renewTime: "1970-01-01T00:00:00.002000Z",
      leaseTransitions: 0,
    });
  });

  it.each([
    { verbs: ["get", "create", "update", "list"], sent: ["GET leases"] },
    { verbs: ["get", "create", "update"], sent: ["GET leases", "GET a", "GET b"] },
  ])("lists Leases by one request, or reads each where it may only $verbs", async (row) => {
    const rules = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: row.verbs }];
    const { transport } = new FakeApi({ clock, resources: [Lease], rules });
    const sent: string[] = [];
    const counted: typeof transport = {
      ...transport,
      send(request, ...rest) {
        sent.push(`${request.method} ${request.path.split("?")[0]?.split("/").at(-1)}`);
        return transport.send(request, ...rest);
      },
    };
    const limited = new KubeClient({ transport: counted, clock });
    const [a, b] = ["a", "b"].map(
      (name) => new LeaseLock({ client: limited, clock, ...NAME, name }),
    ) as [LeaseLock, LeaseLock];
    const written = await a.create(record, signal);
    sent.length = 0;
    expect(await a.list([a, b], signal)).toEqual([written, undefined]);
    expect(sent).toEqual(row.sent);
    sent.length = 0;
    await a.update(record, written.version, signal);
    expect(sent).toEqual(["PUT a"]);
  });

  it("keeps the fields of others, and counts terms as client-go does", async () => {
    await client.create(Lease, {
      metadata: { ...NAME, labels: { app: "janitor" }, annotations: { note: "x" } },
      spec: { holderIdentity: "go", leaseTransitions: 7, strategy: "OldestEmulationVersion" },
    });
    const other = new LeaseLock({ client, clock, ...NAME });
    const found = await lock.get(signal);
    const taken = await other.update({ ...record, transitions: 8 }, found?.version ?? "", signal);
    await other.update({ ...record, renewedAt: 9, transitions: 8 }, taken.version, signal);
    const { metadata, spec } = await client.get(Lease, REF);
    expect(metadata).toMatchObject({
      labels: { app: "janitor" },
      annotations: { note: "x", "holdfast/token": "8" },
    });
    expect(spec).toMatchObject({ leaseTransitions: 8, strategy: "OldestEmulationVersion" });
  });

  it("counts the first term of a Lease that has no number of terms", async () => {
    await client.create(Lease, { metadata: NAME, spec: { holderIdentity: "go" } });
    const found = await lock.get(signal);
    await lock.update({ ...record, transitions: 8 }, found?.version ?? "", signal);
    expect((await client.get(Lease, REF)).spec).toMatchObject({ leaseTransitions: 1 });
  });

  it.each<[string, LeaseObject, object]>([
    ["no spec", {}, { holder: "", leaseDuration: 15_000, renewedAt: 0, transitions: 0 }],
    [
      "a holder without a duration",
      { spec: { holderIdentity: "go", leaseTransitions: 2 } },
      { holder: "go", leaseDuration: 15_000, transitions: 2 },
    ],
    [
      "no token: it goes on from the time of the renewal",
      {
        spec: {
          holderIdentity: "go",
          leaseDurationSeconds: 40,
          leaseTransitions: 2,
          renewTime: "2000-01-01T00:00:01.500000Z",
        },
      },
      {
        holder: "go",
        leaseDuration: 40_000,
        renewedAt: (START + 1.5) * 1_000,
        transitions: START + 1,
      },
    ],
    [
      "a token that is not a number",
      { metadata: { annotations: { "holdfast/token": "1e9" } }, spec: { leaseTransitions: 4 } },
      { transitions: 4 },
    ],
    [
      "a token of more than 32 bits",
      { metadata: { annotations: { "holdfast/token": "5000000000" } } },
      { transitions: 5_000_000_000 },
    ],
  ])("reads a Lease with %s", async (_name, lease, expected) => {
    await client.create(Lease, { ...lease, metadata: { ...NAME, ...lease.metadata } });
    expect((await lock.get(signal))?.record).toMatchObject(expected);
  });

  it("uses the given duration for a lease without one", async () => {
    lock = new LeaseLock({ client, clock, ...NAME, leaseDuration: 4_000 });
    await client.create(Lease, { metadata: NAME, spec: { holderIdentity: "go" } });
    expect((await lock.get(signal))?.record.leaseDuration).toBe(4_000);
  });

  it("rejects with the error of the server, if it is not a conflict", async () => {
    api.stop();
    await expect(lock.get(signal)).rejects.toThrow("ECONNREFUSED");
    await expect(lock.create(record, signal)).rejects.toThrow("ECONNREFUSED");
  });

  it("rejects a list with the error of the server, and reads each only without the right", async () => {
    api.intercept({ fault: { type: "status", status: 500 }, verbs: ["list"] });
    await expect(lock.list([lock], signal)).rejects.toMatchObject({ status: 500 });
  });

  it("rejects with a plain 404: the server is starting, and the Lease may exist", async () => {
    await lock.create(record, signal);
    api.intercept({ fault: plain404, times: 1 });
    await expect(lock.get(signal)).rejects.toMatchObject({ status: 404 });
    const found = await lock.get(signal);
    api.intercept({ fault: plain404, times: 1 });
    const update = lock.update(record, found?.version ?? "", signal);
    await expect(update).rejects.toMatchObject({ status: 404 });
    api.intercept({ fault: plain404, times: 1 });
    await expect(lock.create(record, signal)).rejects.toMatchObject({ status: 404 });
  });

  it.each<[object, string]>([
    [{ client: {} }, "options.client must have a method get()"],
    [{ namespace: "a/b" }, "options.namespace must be a namespace: at most 63"],
    [{ name: ".." }, "options.name must be a name: at most 253 characters"],
    [{ leaseDuration: 0 }, "options.leaseDuration must be a finite number above 0, got 0"],
    [{ clock: {} }, "options.clock must have a method"],
  ])("refuses %o", (options, message) =>
    expect(() => new LeaseLock({ client, ...NAME, ...options })).toThrow(message),
  );
});

describe("an elector on a LeaseLock", () => {
  const tokens: number[] = [];
  const lead = async ({ token, signal: ended }: Leadership): Promise<void> => {
    tokens.push(token);
    await clock.sleep(Number.POSITIVE_INFINITY, { signal: ended }).catch(() => {});
  };
  const elector = (identity: string): LeaderElector =>
    new LeaderElector({
      identity,
      lead,
      clock,
      random: () => 0,
      logger: silentLogger,
      lock: new LeaseLock({ client, clock, ...NAME }),
    });

  it("begins with the server's seconds, and takes those of the last write and one more", async () => {
    tokens.length = 0;
    await clock.run(async () => {
      for (const identity of ["a", "b"]) {
        const stop = new AbortController();
        const run = elector(identity).run(stop.signal);
        await clock.sleep(5_000);
        stop.abort();
        await run;
      }
    });
    expect(tokens).toEqual([START, START + 6]);
    expect(clock.waiters()).toBe(0);
  });

  it("never repeats a token, even if the Lease is deleted between the terms", async () => {
    tokens.length = 0;
    await clock.run(async () => {
      for (const identity of ["a", "b", "c"]) {
        const stop = new AbortController();
        const run = elector(identity).run(stop.signal);
        await clock.sleep(2_500);
        stop.abort();
        await run;
        expect(await client.delete(Lease, REF)).toBe(true);
      }
    });
    expect(tokens).toEqual([START, START + 2, START + 5]);
  });

  it("takes the server's time for the first token, not its own", async () => {
    const late = new LeaseLock({ client, clock: new FakeClock({ now: 5_000 }), ...NAME });
    expect(await late.get(signal)).toBeUndefined();
    expect(late.firstToken).toBe(START);
    const dateless = {
      ...api.transport,
      send: async (...request: Parameters<typeof api.transport.send>) => {
        const { date: _, ...headers } = (await api.transport.send(...request)).headers;
        return { ...(await api.transport.send(...request)), headers };
      },
    };
    const own = new LeaseLock({
      client: new KubeClient({ transport: dateless, clock }),
      clock: new FakeClock({ now: 5_000 }),
      ...NAME,
    });
    expect(await own.get(signal)).toBeUndefined();
    expect(own.firstToken).toBe(5);
  });

  it("leads again with its own token, if its Lease was deleted while it leads", async () => {
    tokens.length = 0;
    const stop = new AbortController();
    const run = elector("a").run(stop.signal);
    await clock.step(5_000);
    await client.delete(Lease, REF);
    await clock.step(20_000);
    expect((await lock.get(signal))?.record).toMatchObject({ holder: "a", transitions: START });
    expect(tokens).toEqual([START]);
    stop.abort();
    await run;
    expect(await errorOf(run)).toBeUndefined();
  });
});

describe("tokens of a Lease", () => {
  /** Leads once, and returns the token of the term. */
  async function term(
    own = new LeaseLock({ client, clock, ...NAME }),
    of = clock,
  ): Promise<number> {
    const stop = new AbortController();
    let token = -1;
    const elector = new LeaderElector({
      lock: own,
      identity: "a",
      clock: of,
      logger: silentLogger,
      lead: async (leadership: Leadership) => {
        token = leadership.token;
        stop.abort();
      },
    });
    await clock.run(() => elector.run(stop.signal));
    return token;
  }
  const annotate = (token: string | null) =>
    client.patch(Lease, REF, { metadata: { annotations: { "holdfast/token": token } } });

  it.each([
    ["removed", null],
    ["unreadable", "many"],
    ["edited to 0", "0"],
  ])(
    "do not go back when the annotation is %s while the holder's clock is behind",
    async (_, text) => {
      const behind = new FakeClock();
      behind.setSystemTime(clock.now() - 3_600_000);
      const first = await term();
      await clock.step(60_000);
      await client.patch(Lease, REF, { spec: { renewTime: "1999-12-31T23:00:00.000000Z" } });
      await annotate(text);
      expect(await term()).toBeGreaterThan(first);
    },
  );

  it("do not go back for the process that has seen a higher one", async () => {
    const first = await term(lock);
    await annotate(`${first + 1_000_000}`);
    const second = await term(lock);
    expect(second).toBe(first + 1_000_001);
    await annotate("1");
    expect(await term(lock)).toBe(second + 1);
  });

  it("of 16 digits are read, and above 2^53 refused", async () => {
    await term();
    await annotate("9007199254740000");
    expect(await term()).toBe(9_007_199_254_740_001);
    await annotate("9007199254740992");
    expect(await errorOf(lock.get(signal))).toEqual(
      new RangeError(
        'annotation holdfast/token of Lease jobs/janitor must be a whole number below 2^53, got "9007199254740992": remove the annotation',
      ),
    );
    await annotate("9007199254740991");
    const { version } = (await lock.get(signal)) ?? { version: "" };
    const next = { ...record, transitions: 2 ** 53 };
    expect(await errorOf(lock.update(next, version, signal))).toBeInstanceOf(RangeError);
  });
});
