import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type OperatorSetup, type Resource, runOperator } from "@holdfast/kubernetes";
import { MemoryOutbox } from "@holdfast/outbox/testing";
import { every } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { Cron } from "croner";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { cronTasks } from "../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../src/cron-task/resources.ts";
import { definedResources } from "../src/dns-sync/manifests.ts";
import { dnsSync } from "../src/dns-sync/operator/dns-sync.ts";
import { DnsRecord, DnsZone } from "../src/dns-sync/operator/resources.ts";
import { DnsProvider } from "../src/dns-sync/provider/dns-provider.ts";
import { simulate as ethernet } from "../src/ethernet/simulate.ts";
import { mirror } from "../src/getting-started/mirror.ts";
import { ConfigMap, Greeting, greeter } from "../src/greeter/greeter.ts";
import { compareForms } from "../src/herd/compare-forms.ts";
import { scenario } from "../src/herd/scenario.ts";
import { START } from "../src/playground/draft.ts";
import { drawDelays, drawHerd } from "../src/playground/draw.ts";
import { settingsOf } from "../src/playground/settings.ts";
import { crawl } from "../src/recipes/crawl.ts";
import { fetchWithRetryAfter } from "../src/recipes/fetch-with-retry-after.ts";
import { followLines } from "../src/recipes/follow-lines.ts";
import { leaderCron } from "../src/recipes/leader-cron.ts";
import { listenToDatabase } from "../src/recipes/listen-to-database.ts";
import { mirrorDirectory } from "../src/recipes/mirror-directory.ts";
import { scheduler } from "../src/recipes/scheduled-job.ts";
import { waitUntilReady } from "../src/recipes/wait-until-ready.ts";
import { moves } from "../src/slots/moves.ts";
import { Website } from "../src/website/resources.ts";
import { websites } from "../src/website/website.ts";
import { jobTemplate, nightly } from "./cron-task/cron-world.ts";
import { fetchFrom } from "./dns-sync/operator-world.ts";
import { FakeFs } from "./recipes/recipe-world.ts";
import { refuseMachine } from "./refuse-machine.ts";
import { FakeDns } from "./website/fake-dns.ts";
import { home, spec, TARGET, resources as websiteResources } from "./website/website-world.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface World {
  readonly api: FakeApi;
  readonly clock: FakeClock;
  readonly random: () => number;
}

/** An operator: its resources, its setup, and the objects that it works on. */
interface Program {
  readonly resources: readonly Resource[];
  setup(world: World): OperatorSetup;
  arrange(world: World): Promise<unknown>;
}

const meta = (name: string) => ({ namespace: "default", name });

const PROGRAMS: Record<string, Program> = {
  greeter: {
    resources: [Greeting, ConfigMap],
    setup: () => greeter,
    arrange: ({ api: { client } }) =>
      client.create(Greeting, { metadata: meta("ann"), spec: { name: "Ann" } }),
  },
  website: {
    resources: websiteResources,
    setup: ({ random }) => {
      const dns = new FakeDns();
      return websites(
        {
          put: async (owner, record) => {
            dns.isDown = random() < 0.3;
            await dns.put(owner, record);
          },
          delete: (owner) => dns.delete(owner),
        },
        TARGET,
      );
    },
    arrange: ({ api: { client } }) => client.create(Website, { metadata: home, spec }),
  },
  "cron-task": {
    resources: [CronTask, Job],
    setup: () => cronTasks,
    arrange: ({ api: { client } }) =>
      client.create(CronTask, {
        metadata: nightly,
        spec: { schedule: "*/5 * * * *", jobTemplate },
      }),
  },
  "dns-sync": {
    resources: definedResources(),
    setup: ({ clock, random }) =>
      dnsSync("http://provider", { fetch: fetchFrom(new DnsProvider({ clock, random })), qps: 5 }),
    arrange: async ({ api: { client } }) => {
      const zone = { metadata: meta("web"), spec: { domain: "example.org", ttl: 60 } };
      await client.create(DnsZone, zone);
      for (const [host, type] of [
        ["www", "A"],
        ["api", "A"],
        ["bad", "LOC"],
      ] as const)
        await client.create(DnsRecord, {
          metadata: meta(host),
          spec: { zone: "web", host, type, value: "192.0.2.1" },
        });
    },
  },
};

const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const Event = builtIn("events.k8s.io/v1", "Event");

/** The requests of two replicas to a server that is often too busy, with their times. */
async function requestsOf(program: Program): Promise<string[]> {
  const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
  const random = seededRandom(7);
  const api = new FakeApi({ clock, resources: [...program.resources, Lease, Event] });
  const world: World = { api, clock, random };
  const requests: string[] = [];
  const stop = new AbortController();
  await clock.run(async () => {
    await program.arrange(world);
    api.intercept({
      fault({ method, path }) {
        requests.push(`${clock.now()} ${method} ${path}`);
        if (random() > 0.2) return undefined;
        const status = random() < 0.5 ? 429 : 503;
        return { type: "status", status, retryAfter: random() < 0.5 ? 0 : 1 };
      },
    });
    const replicas = [1, 2].map(() =>
      runOperator(
        {
          name: "program",
          transport: api.transport,
          setup: program.setup(world),
          leaderElection: { namespace: "default" },
          health: false,
          clock,
          random,
          logger: silentLogger,
        },
        stop.signal,
      ),
    );
    await clock.sleep(1_800_000);
    stop.abort();
    await Promise.all(replicas);
  });
  return requests;
}

describe.each(Object.entries(PROGRAMS))("the operator %s", (_, program) => {
  it("is a function of its clock, its randomness and its server", async () => {
    const asked = refuseMachine();
    const first = await requestsOf(program);
    expect(first.length).toBeGreaterThan(500);
    expect(await requestsOf(program)).toEqual(first);
    expect(asked).toEqual([]);
  });
});

/** Programs without a cluster: what each does, as a value. */
const OTHERS: Record<string, () => Promise<unknown>> = {
  ethernet: () => ethernet({ stations: 5, bytes: 1_518, duration: 100, seed: 1 }),
  herd: () => compareForms({ ...scenario(1), clients: 50 }),
  slots: () => moves(1),
  "the playground": async () => {
    const checked = settingsOf({ ...START, clients: "50" });
    if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
    return [drawDelays(checked.settings), await drawHerd(checked.settings)];
  },
  "leader-cron": async () => {
    const ran: unknown[] = [];
    const lock = new MemoryLock();
    return await whatHappens(ran, async ({ clock, random, signal }) => {
      const runs = ["a", "b"].map((identity) => {
        const job = (_: AbortSignal, token: number) => ran.push([clock.now(), identity, token]);
        const options = { lock, identity, interval: 60_000, signal, clock, random };
        return leaderCron(job, { ...options, log: (line) => void ran.push(line) });
      });
      await Promise.all(runs);
    });
  },
  "getting-started": () => {
    const files = new Map<string, string>();
    return whatHappens([], async ({ clock, random, signal, note }) => {
      vi.stubGlobal("fetch", flaky(random, note));
      const pages = new Map(["a", "b"].map((name) => [name, `https://example.org/${name}`]));
      const store = {
        read: async (name: string) => files.get(name),
        write: async (name: string, text: string) => {
          note(name);
          if (random() < 0.3) throw new Error("the disk is full");
          files.set(name, text);
        },
      };
      const changes = every(600_000, { clock, signal });
      const running = mirror(pages, store, { clock, random }).run(signal);
      for await (const _ of changes) files.clear();
      await running;
    });
  },
  crawl: () =>
    whatHappens([], ({ clock, random, signal, note }) =>
      crawl("https://example.org/", {
        clock,
        random,
        signal,
        log: note,
        fetch: flaky(random, note),
      }),
    ),
  "fetch-with-retry-after": () =>
    whatHappens([], ({ clock, random, signal, note }) => {
      const options = { clock, random, signal, log: note, fetch: flaky(() => 0, note) };
      return fetchWithRetryAfter("https://example.org", options);
    }),
  "follow-lines": () =>
    whatHappens([], ({ clock, random, signal, note }) => {
      const options = { clock, random, signal, log: note, fetch: flaky(random, note) };
      return followLines("https://example.org", options).forEach(note);
    }),
  "listen-to-database": () =>
    whatHappens([], ({ clock, random, signal, note }) => {
      const connect = async (): Promise<never> => {
        note("connect");
        throw new Error("refused");
      };
      return listenToDatabase("postgres://", "jobs", { clock, random, signal, log: note, connect });
    }),
  "mirror-directory": async () => {
    const [source, target] = [tempFolder(onTestFinished), tempFolder(onTestFinished)];
    for (const name of ["a", "b", "c"]) writeFileSync(join(source, name), name);
    return await whatHappens([], ({ clock, random, signal, note }) => {
      const files = new FakeFs(clock);
      const promises = new Proxy(files.promises, {
        get: (fs, name) => {
          if (name !== "writeFile") return Reflect.get(fs, name);
          return (...args: Parameters<typeof fs.writeFile>) => {
            note("write");
            if (random() < 0.7) throw new Error("the disk is full");
            return fs.writeFile(...args);
          };
        },
      });
      const fs = { promises, watch: files.fs.watch.bind(files) };
      const log = (line: string): void => note(line.replace(source, ""));
      return mirrorDirectory(source, target, { clock, random, signal, log, fs });
    });
  },
  "scheduled-job": () =>
    whatHappens([], async ({ clock, random, signal, note }) => {
      const lock = new MemoryLock();
      const runs = { last: async () => undefined, save: async () => undefined };
      const times = [new Cron("*/7 * * * *", { timezone: "UTC" })];
      const replicas = ["a", "b"].map((identity) => {
        const run = async (): Promise<void> => {
          note(identity);
          if (random() < 0.5) throw new Error("down");
        };
        const options = { lock, runs, identity, clock, random };
        return scheduler({ name: "report", times, run }, options).run(signal);
      });
      await Promise.all(replicas);
    }),
  "the shop of the outbox": () =>
    whatHappens([], async ({ clock, random, signal, note }) => {
      const publish = async (): Promise<never> => {
        note("publish");
        throw new Error("down");
      };
      const id = "00000000-0000-4000-8000-000000000001"; // An id has to be new: it is no argument.
      const order = { id, topic: "orders.placed", key: "order/1", payload: 1 };
      const outbox = new MemoryOutbox({
        name: "shop",
        publisher: { publish },
        clock,
        random,
        logger: silentLogger,
      });
      await outbox.transaction((tx) => outbox.save(tx, order));
      await outbox.run(signal);
    }),
  "wait-until-ready": () => {
    const calls: unknown[] = [];
    return whatHappens(calls, ({ clock, random, signal }) => {
      const answer = async (): Promise<Response> => {
        calls.push(clock.now());
        return new Response("", { status: calls.length < 9 ? 503 : 200 });
      };
      const options = { clock, random, signal, fetch: answer, log: () => {} };
      return waitUntilReady("https://example.org", options);
    });
  },
};

/** A server that is often down. */
function flaky(random: () => number, note: (text: string) => void): typeof globalThis.fetch {
  return async (url) => {
    note(`GET ${String(url)}`);
    if (random() < 0.5) return new Response("", { status: 503 });
    return new Response('<a href="/a">a</a><a href="/b">b</a>\n');
  };
}

interface Given extends Pick<World, "clock" | "random"> {
  readonly signal: AbortSignal;
  /** Notes what a program does, with the instant. */
  readonly note: (text: string) => void;
}

/** What a program notes in three hours. */
async function whatHappens(
  notes: unknown[],
  run: (given: Given) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const clock = new FakeClock({ now: 0 });
  const note = (text: string): void => void notes.push([clock.now(), text]);
  const stop = new AbortController();
  await clock.run(async () => {
    const running = run({ clock, random: seededRandom(7), signal: stop.signal, note }).catch(
      () => {},
    );
    await clock.sleep(3 * 3_600_000);
    stop.abort();
    await running;
  });
  return notes;
}

it.each(Object.entries(OTHERS))("%s is a function of its arguments", async (_, run) => {
  const asked = refuseMachine();
  const first = JSON.stringify(await run());
  expect(first.length).toBeGreaterThan(20);
  expect(JSON.stringify(await run())).toBe(first);
  expect(asked).toEqual([]);
});
