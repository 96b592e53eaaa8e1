import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { atUrl, KubeClient, type KubeObject, runOperator } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterEach, describe, expect, vi } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { freePort } from "../../../../services/free-port.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import type { Program } from "../program.ts";
import { startGreeter } from "./greeter-process.ts";

const MANIFESTS = ["crd.yaml", "greeter.yaml"].map((name) =>
  fileURLToPath(new URL(`../../src/greeter/deploy/${name}`, import.meta.url)),
);
const [CRD = "", ROLES = ""] = MANIFESTS;

/** The most lines that an operator with two informers may log for an outage. */
const MOST_OF_AN_OUTAGE = 10;
/** And for a key that fails: one for each attempt, whose delays double from 5 ms. */
const MOST_OF_A_KEY = 20;
const OUTAGE = 24_000;
/** For the work of many keys on a slow machine. */
const PATIENCE = 600_000;
/** Keys that wait when a leader is told to stop. */
const QUEUED = 2_000;

const sleep = async (delay: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, delay));

/** Greetings as the server stores them. */
const greetings = Array.from({ length: QUEUED }, (_, number) => ({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  metadata: {
    name: `g${number}`,
    namespace: "default",
    uid: randomUUID(),
    creationTimestamp: "2026-01-01T00:00:00Z",
    generation: 1,
  },
  spec: { name: `g${number}` },
}));

afterEach(() => void vi.unstubAllEnvs());

describe("a bad day of an operator", () => {
  ownServerTest("is over after each event, and takes few log lines", async () => {
    await using cluster = await GuardedCluster.start(MANIFESTS);
    const { admin, namespace, server, transport } = cluster;
    const port = await freePort();
    const stop = new AbortController();
    let lines: string[] = [];
    const note = (details: object, message: string): void => {
      lines.push(`${message} ${JSON.stringify(details).slice(0, 200)}`);
    };
    const running = runOperator(
      {
        name: "greeter",
        transport,
        setup: greeter,
        logger: { ...silentLogger, info: note, warn: note, error: note },
        health: { port, host: "127.0.0.1" },
        leaderElection: { namespace },
      },
      stop.signal,
    );
    let count = 0;
    const create = async (): Promise<string> => {
      count += 1;
      const name = `g${count}`;
      const metadata = { namespace: "default", name };
      await admin.create(Greeting, { metadata, spec: { name } });
      return `default/${name}`;
    };
    const greets = async (): Promise<void> => {
      const ref = await create();
      const isGreeted = async (): Promise<boolean> =>
        (await admin.get(Greeting, ref)).status?.text !== undefined;
      await poll(isGreeted, { timeout: 120_000 });
    };
    const ready = async (status: number): Promise<void> => {
      const isIt = async (): Promise<boolean> =>
        (await fetch(`http://127.0.0.1:${port}/readyz`)).status === status;
      await poll(isIt, { timeout: 120_000 });
    };
    /** Lines of an event, which is over when the operator greets again. */
    const event = async (
      name: string,
      most: number,
      happens: () => Promise<unknown>,
    ): Promise<void> => {
      lines = [];
      await happens();
      await greets();
      await ready(200);
      expect.soft(lines.length, `${name}: ${lines.join("\n")}`).toBeLessThanOrEqual(most);
    };

    await greets();
    await event("the server is away", MOST_OF_AN_OUTAGE, async () => {
      await server.kill();
      await sleep(OUTAGE);
      await server.startApi();
    });
    await event("the CRD is deleted and put back", MOST_OF_AN_OUTAGE, async () => {
      await server.kubectl("delete", "-f", CRD);
      await ready(503);
      await server.kubectl("apply", "-f", CRD);
      await server.kubectl("wait", "--for=condition=Established", "-f", CRD);
    });
    await event("the rights are revoked and restored", MOST_OF_A_KEY, async () => {
      await server.kubectl("delete", "clusterrolebinding", "greeter");
      await create();
      await sleep(5_000);
      await server.kubectl("apply", "-f", ROLES);
    });
    await event("an object is invalid", MOST_OF_A_KEY, async () => {
      // The name of its ConfigMap is too long.
      const metadata = { namespace: "default", name: "x".repeat(250) };
      await admin.create(Greeting, { metadata, spec: { name: "Ann" } });
      await sleep(5_000);
      await admin.delete(Greeting, metadata);
    });
    const maps: KubeObject[] = [];
    for await (const map of admin.list(ConfigMap, { namespace: "default" })) maps.push(map);
    expect(maps.length).toBeGreaterThan(0);
    stop.abort();
    await running;
  });

  ownServerTest(
    "hands 2,000 queued keys over, after a kill and in a roll-out",
    async () => {
      await using server = await ApiServer.start();
      await server.kubectl("apply", "-f", CRD);
      await server.kubectl("wait", "--for=condition=Established", "-f", CRD);
      const { url, ca, adminToken } = server;
      const transport = atUrl(url, { ca, token: () => adminToken });
      const admin = new KubeClient({ transport, logger: silentLogger });
      const greeted = async (): Promise<number> => {
        let count = 0;
        for await (const { status } of admin.list(Greeting)) count += Number(status !== undefined);
        return count;
      };
      const leads = ({ stdout }: Program): boolean => stdout.includes('"leadership acquired"');
      const eventually = async (condition: () => Promise<boolean> | boolean): Promise<unknown> =>
        await poll(async () => await condition(), {
          backoff: { duration: 100 },
          timeout: PATIENCE,
        });

      await using first = await startGreeter(server);
      await eventually(() => leads(first));
      await using second = await startGreeter(server);
      await using third = await startGreeter(server);
      const standbys = [second, third];
      await eventually(() => standbys.every(({ stdout }) => stdout !== ""));
      first.child.kill("SIGKILL");
      await server.seed("example.org/greetings", greetings);
      await eventually(() => standbys.some(leads));
      const leader = standbys.find(leads) as Program;
      const next = standbys.find((standby) => standby !== leader) as Program;
      await eventually(async () => (await greeted()) > 0);
      leader.child.kill("SIGTERM");
      const began = realClock.monotonic();
      expect(await leader.exited).toBe(0);
      const took = realClock.monotonic() - began;
      const left = QUEUED - (await greeted());
      console.log(
        `SIGTERM with ${left} of ${QUEUED} keys left: stopped after ${took.toFixed(0)} ms`,
      );
      expect(left).toBeGreaterThan(0);

      await eventually(async () => (await greeted()) === QUEUED);
      let maps = 0;
      for await (const { metadata, data } of admin.list(ConfigMap, { namespace: "default" })) {
        maps += 1;
        expect(data).toEqual({ text: `Hello, ${metadata.name.replace("greeting-", "")}!` });
      }
      expect(maps).toBe(QUEUED);
      next.child.kill("SIGTERM");
      expect(await next.exited).toBe(0);
      for (const { stdout, stderr } of [first, leader, next]) {
        const records = stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as object);
        expect(records.length, stdout).toBeLessThanOrEqual(MOST_OF_AN_OUTAGE);
        expect(stderr).toBe("");
      }
      await transport.closeIdle?.();
    },
    PATIENCE,
  );
});
