import { realClock } from "@holdfast/clock";
import { atUrl, builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { Candidate, type Term } from "./candidate.ts";

const NAMESPACE = "election";
/** As in `candidate.mjs`, in milliseconds. */
const LEASE = 3_000;
const ROUNDS = 3;
const FROZEN_ROUNDS = 12;

interface EntryObject extends KubeObject {
  data?: { token: string; identity: string; step: string; at: string };
}
const ConfigMap = builtIn<EntryObject>("v1", "ConfigMap");

/** A step of a leader in the journal. */
interface Entry {
  readonly version: number;
  readonly token: number;
  readonly identity: string;
  readonly step: string;
  readonly at: number;
}

let server: ApiServer;
let client: KubeClient;
const started: Candidate[] = [];
const running = new Set<Candidate>();

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
  client = new KubeClient({ transport });
});

afterAll(async () => {
  for (const candidate of started) await candidate[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** Starts candidates until three run. */
function fill(namespace = NAMESPACE): void {
  while (running.size < 3) {
    const candidate = new Candidate(`candidate-${started.length}`, namespace, server);
    started.push(candidate);
    running.add(candidate);
  }
}

/** The journal in the order of the writes. */
async function journal(namespace = NAMESPACE): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const { metadata, data } of client.list(ConfigMap, { namespace }))
    if (data !== undefined)
      entries.push({
        version: Number(metadata.resourceVersion),
        token: Number(data.token),
        identity: data.identity,
        step: data.step,
        at: Number(data.at),
      });
  return entries.sort((a, b) => a.version - b.version);
}

/** Waits for a leader whose token is above `token` and who works. */
async function nextLeader(
  token: number,
  namespace = NAMESPACE,
): Promise<Candidate & { readonly token: number }> {
  const find = async () => {
    const leader = [...running].find((candidate) => candidate.isLeader);
    const current = leader?.terms.at(-1)?.token ?? -1;
    if (leader === undefined || current <= token) return undefined;
    const steps = (await journal(namespace)).filter((entry) => entry.token === current);
    const isWorking = steps.some(({ step }) => step === "begin") && steps.length >= 5;
    return isWorking ? Object.assign(leader, { token: current }) : undefined;
  };
  return await poll(find, {
    backoff: { duration: 50 },
    timeout: 120_000,
    onError: () => undefined, // the server may just have started
  });
}

function termsByTime(): readonly Term[] {
  return started.flatMap(({ terms }) => terms).sort((a, b) => a.from - b.from);
}

/** No term begins before the one before has ended, tokens rise, and a new leader knows all earlier writes. */
function expectOneLeader(entries: readonly Entry[]): void {
  const terms = termsByTime();
  const current = terms.at(-1)?.token;
  for (const [index, { token, from, known }] of terms.entries()) {
    const before = terms[index - 1];
    if (before !== undefined) {
      expect(token).toBeGreaterThan(before.token);
      expect(from).toBeGreaterThanOrEqual(before.until ?? Number.NaN);
    }
    const earlier = entries.filter((entry) => entry.token < token);
    expect(known).toBeGreaterThanOrEqual(Math.max(0, ...earlier.map(({ version }) => version)));
  }
  const identities = new Map(terms.map(({ token, identity }) => [token, identity]));
  const ends = new Map(terms.map(({ token, until }) => [token, until]));
  for (const [index, { token, identity, at }] of entries.entries()) {
    // In the order of the server's versions, no leader of the past writes.
    expect(token).toBeGreaterThanOrEqual(entries[index - 1]?.token ?? 0);
    expect(identity).toBe(identities.get(token));
    if (token !== current) expect(at).toBeLessThanOrEqual(ends.get(token) ?? Number.NaN);
  }
}

const stepsOf = (entries: readonly Entry[], wanted: number) => {
  const steps = entries.filter(({ token }) => token === wanted).map(({ step }) => step);
  const count = (name: string): number => steps.filter((step) => step === name).length;
  return { begun: count("begin"), finished: count("end"), last: steps.at(-1) };
};

describe("of three processes with a Lease on a real server", () => {
  ownServerTest(
    "one leads at a time, through kills, stops and an API server that is away",
    async () => {
      fill();
      let leader = await nextLeader(-1);
      for (let round = 0; round < ROUNDS; round++) {
        running.delete(leader);
        await leader.kill();
        fill();
        leader = await nextLeader(leader.token);

        // It finishes the reconcile that is longer than the lease, and only then another one leads.
        const stopped = leader.token;
        running.delete(leader);
        expect(await leader.stop()).toBe(0);
        fill();
        leader = await nextLeader(stopped);
        const { begun, finished } = stepsOf(await journal(), stopped);
        expect([begun, finished]).toEqual([begun, begun]);
        expect(begun).toBeGreaterThan(0);

        // Away for longer than the lease; in one round the leader dies meanwhile.
        const away = leader.token;
        await server.kill();
        if (round === 1) {
          running.delete(leader);
          await leader.kill();
          fill();
        }
        await realClock.sleep(LEASE);
        const isLed = (): boolean => [...running].some((candidate) => candidate.isLeader);
        await poll(() => !isLed(), { backoff: { duration: 50 }, timeout: 60_000 });
        await server.startApi();
        leader = await nextLeader(away);
      }
      expectOneLeader(await journal());
      const codes = await Promise.all([...running].map((candidate) => candidate.stop()));
      expect(codes).toEqual([0, 0, 0]);
      const entries = await journal();
      expectOneLeader(entries);
      expect(termsByTime().length).toBeGreaterThanOrEqual(1 + 3 * ROUNDS);
      running.clear();
    },
  );

  ownServerTest(
    "none begins a write after its successor, in 12 rounds in which the leader stands still beyond its lease",
    async () => {
      const namespace = "frozen";
      fill(namespace);
      /** When the leader of a term could go on, by token. */
      const thawedAt = new Map<number, number>();
      let leader = await nextLeader(-1, namespace);
      for (let round = 0; round < FROZEN_ROUNDS; round++) {
        // At any moment between two writes, or within one.
        await realClock.sleep(17 * round);
        leader.freeze();
        running.delete(leader);
        const next = await nextLeader(leader.token, namespace);
        thawedAt.set(leader.token, realClock.now());
        leader.thaw();
        running.add(leader);
        // Long enough for all that it has left to do.
        await realClock.sleep(1_000);
        leader = next;
      }
      const entries = await journal(namespace);
      const late = entries.filter(({ token }, index) => token < (entries[index - 1]?.token ?? 0));
      // A write that was on its way to the kernel when the process stopped may still go out: only a fence stops that one.
      const begun = late.filter(({ at, token }) => at >= (thawedAt.get(token) ?? 0));
      expect(begun).toEqual([]);
      expect(late.length).toBeLessThan(FROZEN_ROUNDS / 2);
      expect(new Set(entries.map(({ token }) => token)).size).toBeGreaterThan(FROZEN_ROUNDS);
      const codes = await Promise.all([...running].map((candidate) => candidate.stop()));
      expect(codes).toEqual([0, 0, 0]);
    },
  );
});
