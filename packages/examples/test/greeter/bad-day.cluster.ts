import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { type KubeObject, runOperator } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { freePort } from "../../../../test/free-port.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { GuardedCluster } from "../guarded-cluster.ts";

const MANIFESTS = ["crd.yaml", "greeter.yaml"].map((name) =>
  fileURLToPath(new URL(`../../src/greeter/deploy/${name}`, import.meta.url)),
);
const [CRD = "", ROLES = ""] = MANIFESTS;

/** The most lines that an operator with two informers may log for an outage. */
const MOST_OF_AN_OUTAGE = 10;
/** And for a key that fails: one for each attempt, whose delays double from 5 ms. */
const MOST_OF_A_KEY = 20;
const OUTAGE = 24_000;

const sleep = async (delay: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, delay));

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
});
