import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { ConfigMap, Greeting } from "../../src/greeter/greeter.ts";
import { Program } from "../program.ts";

const Lease = builtIn<KubeObject>("coordination.k8s.io/v1", "Lease");
const Event = builtIn<KubeObject>("events.k8s.io/v1", "Event");

const api = new FakeApi({ clock: realClock, resources: [Greeting, ConfigMap, Lease, Event] });
const programs: Program[] = [];
let folder: string;
let listener: Awaited<ReturnType<typeof api.listen>>;

beforeEach(async () => {
  listener = await api.listen();
  folder = mkdtempSync(join(tmpdir(), "greeter-"));
  // A kubectl whose kubeconfig names the server in this process.
  const view = {
    clusters: [{ name: "c", cluster: { server: listener.url } }],
    contexts: [{ name: "c", context: { cluster: "c", namespace: "default" } }],
    "current-context": "c",
  };
  writeFileSync(join(folder, "kubectl"), `#!/bin/sh\necho '${JSON.stringify(view)}'\n`);
  chmodSync(join(folder, "kubectl"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
});

afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill("SIGKILL");
    await program.exited;
  }
  vi.unstubAllEnvs();
  await listener[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function startGreeter(port: string): Program {
  vi.stubEnv("PORT", port);
  const program = new Program("greeter/greeter.js", []);
  programs.push(program);
  return program;
}

test("the greeter serves its probes on PORT, so that two run on one machine", async () => {
  for (const port of [await freePort(), await freePort()]) {
    startGreeter(String(port));
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
    await poll(() => isReady().catch(() => false), {
      backoff: { duration: 50 },
      timeout: 60_000,
    });
  }
});

test("the greeter ends with an error if PORT is not a port", async () => {
  const greeter = startGreeter("http");
  expect(await greeter.exited).toBe(1);
  expect(greeter.stderr).toContain("options.health.port must be a whole number of at least 0");
});
