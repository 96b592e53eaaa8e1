import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

// Processes, sockets and time are real here. The leader has the default lease: it may miss renewals for 10 s.

const ATTACKS = ["pipelined", "quiet", "slow", "unread", "scrapes"] as const;

/** `ATTACK_SECONDS=60` attacks for five minutes. */
const SECONDS = Number(process.env["ATTACK_SECONDS"] ?? 3);

function start(program: string, ...args: string[]): ChildProcess {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(path, args, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] }); // without its log
  onTestFinished(async () => {
    const exited = child.exitCode === null && child.signalCode === null && once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  return child;
}

/** A probe as the kubelet sends it: on a connection of its own. */
function probe(port: number): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const agent = new Agent({ keepAlive: false });
    const request = get({ agent, host: "127.0.0.1", port, path: "/healthz" }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
      response.on("error", ({ message }) => resolve(message));
    });
    request.on("error", ({ message }) => resolve(message));
  });
}

it("an operator leads and answers its kubelet under each attack on its health server", {
  timeout: 600_000 + ATTACKS.length * SECONDS * 1_000,
}, async () => {
  const operator = start("./attacked-operator.mjs");
  const messages: (string | { port: number })[] = [];
  operator.on("message", (message: string | { port: number }) => messages.push(message));
  // It leads when it sends its port.
  const portOf = (): number | undefined =>
    messages
      .map((message) => (typeof message === "string" ? undefined : message.port))
      .find(Boolean);
  await expect.poll(portOf, { timeout: 60_000 }).toBeGreaterThan(0);
  const port = portOf() as number;

  for (const attack of ATTACKS) {
    const attacker = start("./health-attacks.mjs", attack, String(port));
    const end = performance.now() + SECONDS * 1_000;
    const before = messages.length;
    const probes: unknown[] = [];
    // At least two renewals of the lease, and a probe after each of them.
    while (performance.now() < end || messages.length < before + 2) {
      expect(operator.exitCode).toBe(null);
      probes.push(await probe(port));
      await sleep(100);
    }
    attacker.kill("SIGKILL");
    console.log(`${attack}: ${probes.length} probes, ${messages.length - before} renewals`);
    expect({ attack, probes: new Set(probes) }).toEqual({ attack, probes: new Set([200]) });
    expect(messages.filter((message) => message !== "renewed")).toEqual([{ port }]);
  }
});
