import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { poll } from "@holdfast/wait";
import { afterAll, afterEach, beforeAll, describe, expect, vi } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import type { Program } from "../program.ts";
import { startGreeter as startProcess } from "./greeter-process.ts";

const MANIFESTS = ["crd.yaml", "greeter.yaml"].flatMap((name) => [
  "-f",
  fileURLToPath(new URL(`../../src/greeter/deploy/${name}`, import.meta.url)),
]);

let server: ApiServer;
const programs: Program[] = [];

beforeAll(async () => {
  if (isOwnServer) server = await ApiServer.start();
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill("SIGKILL");
    await program.exited;
  }
  vi.unstubAllEnvs();
});

/** Runs kubectl, which may fail. */
function kubectl(args: readonly string[], input = "") {
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    const env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: dirname(server.kubeconfig) };
    const child = execFile(server.kubectlPath, args, { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, lines: `${stdout}${stderr}`.split("\n").filter((line) => line !== "") });
    });
    child.stdin?.end(input);
  });
}

async function startGreeter(): Promise<Program> {
  const program = await startProcess(server);
  programs.push(program);
  return program;
}

const greeting = (name: string, person: string): string =>
  JSON.stringify({
    apiVersion: "example.org/v1",
    kind: "Greeting",
    metadata: { name },
    spec: { name: person },
  });

const waitFor = async (name: string, text: string) =>
  await kubectl([
    "wait",
    `greeting/${name}`,
    `--for=jsonpath={.status.text}=${text}`,
    "--timeout=60s",
  ]);

describe("the greeter on a real server", () => {
  ownServerTest("has manifests that the server takes, and takes again", async () => {
    const apply = () => kubectl(["apply", "--server-side", ...MANIFESTS]);
    const first = await apply();
    const objects = [
      "customresourcedefinition.apiextensions.k8s.io/greetings.example.org",
      "namespace/greeter",
      "serviceaccount/greeter",
      "clusterrole.rbac.authorization.k8s.io/greeter",
      "clusterrolebinding.rbac.authorization.k8s.io/greeter",
      "role.rbac.authorization.k8s.io/greeter",
      "rolebinding.rbac.authorization.k8s.io/greeter",
      "deployment.apps/greeter",
    ];
    const lines = objects.map((name) => `${name} serverside-applied`);
    expect(first).toEqual({ code: 0, lines });
    expect(await apply()).toEqual(first);
  });

  ownServerTest("greets as a process, until it is killed and another one takes over", async () => {
    const one = await startGreeter();
    await kubectl(["apply", "-f", "-"], greeting("ann", "Ann"));
    expect(await waitFor("ann", "Hello, Ann!")).toMatchObject({ code: 0 });
    const { lines } = await kubectl(["get", "greetings"]);
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ["NAME", "PERSON", "TEXT"],
      ["ann", "Ann", "Hello, Ann!"],
    ]);
    const refused = await kubectl(["apply", "-f", "-"], greeting("nobody", ""));
    expect(refused.code).toBe(1);
    expect(refused.lines.join("\n")).toContain("spec.name");

    const text = [
      "get",
      "configmap",
      "greeting-ann",
      "-o",
      "jsonpath={.data.text} {.metadata.ownerReferences[*].kind}",
    ];
    expect((await kubectl(text)).lines).toEqual(["Hello, Ann! Greeting"]);
    await kubectl(["delete", "configmap", "greeting-ann"]);
    await poll(async () => (await kubectl(text)).code === 0, {
      backoff: { duration: 100 },
      timeout: 60_000,
    });

    await server.restart();
    await kubectl(["apply", "-f", "-"], greeting("bob", "Bob"));
    expect(await waitFor("bob", "Hello, Bob!")).toMatchObject({ code: 0 });

    one.child.kill("SIGKILL");
    await one.exited;
    const two = await startGreeter();
    await kubectl(["apply", "-f", "-"], greeting("cleo", "Cleo"));
    expect(await waitFor("cleo", "Hello, Cleo!")).toMatchObject({ code: 0 });
    two.child.kill("SIGTERM");
    expect(await two.exited).toBe(0);
    const lease = await kubectl([
      "get",
      "lease",
      "greeter",
      "-o",
      "jsonpath={.spec.holderIdentity}",
    ]);
    expect(lease).toEqual({ code: 0, lines: [] });
  });
});
