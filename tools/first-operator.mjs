// The walk of docs/first-operator.md, as a newcomer takes it: in an empty folder, with its commands and its
// files, the packed tarballs in place of the registry, and an API server in memory in place of a cluster.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./packages.mjs";
import { tarballOf } from "./tarballs.mjs";

/**
 * @param {{ manifest: any }[]} packages
 * @param {string} tarballs the folder that `packInto` left them in
 */
export async function checkFirstOperator(packages, tarballs) {
  const guide = readFileSync("docs/first-operator.md", "utf8");
  const folder = mkdtempSync(join(tmpdir(), "packcheck-operator-"));
  try {
    run("sh", ["-ec", setupOf(guide, packages, tarballs)], folder);
    const project = join(folder, "greeter");
    for (const [path, text] of filesOf(guide)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    run("npm", ["test"], project);
    run("npx", ["tsc"], project);
    await operate(project);
    console.log("docs/first-operator.md leads from an empty folder to an operator that works");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The commands of the first section. Beside a package stand those that it needs and that no command names. */
function setupOf(guide, packages, tarballs) {
  const [, commands = ""] = /```sh\n([\s\S]*?)```/.exec(guide) ?? [];
  const find = (name) => packages.find((one) => one.manifest.name === name)?.manifest;
  return commands.replace(/@holdfast\/[\w-]+/g, (name) => {
    const manifest = find(name);
    const needed = Object.keys(manifest.dependencies ?? {}).filter(
      (one) => !commands.includes(one),
    );
    const all = [manifest, ...needed.map(find).filter((one) => one !== undefined)];
    return all.map((one) => tarballOf(tarballs, one)).join(" ");
  });
}

/** The files that the guide lets its reader save. */
function filesOf(guide) {
  return new Map(
    [...guide.matchAll(/^Save this as `([^`]+)`[\s\S]*?\n```\w+\n([\s\S]*?\n)```$/gm)].map(
      ([, path, text]) => [path, text],
    ),
  );
}

/** Runs the operator as a process until it has created a ConfigMap and mended it. */
async function operate(project) {
  const load = (path) => import(pathToFileURL(join(project, path)).href);
  const { realClock } = await load("node_modules/@holdfast/clock/dist/index.js");
  const { poll } = await load("node_modules/@holdfast/wait/dist/index.js");
  const { builtIn } = await load("node_modules/@holdfast/kubernetes/dist/index.js");
  const { FakeApi } = await load("node_modules/@holdfast/fake-apiserver/dist/index.js");
  const { ConfigMap, Greeting } = await load("dist/greeter.js");
  const Lease = builtIn("coordination.k8s.io/v1", "Lease");
  const api = new FakeApi({ clock: realClock, resources: [Greeting, ConfigMap, Lease] });
  const listener = await api.listen();
  const operator = start(project, listener.url);
  try {
    const ann = { namespace: "default", name: "ann" };
    const child = { namespace: "default", name: "greeting-ann" };
    await api.client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
    const isGreeted = async () => {
      if (operator.child.exitCode !== null) throw new Error(`ended:\n${operator.output.join("")}`);
      return (await api.client.find(ConfigMap, child))?.data.text === "Hello, Ann!";
    };
    await poll(isGreeted, { backoff: { duration: 100 }, timeout: 60_000 });
    await api.client.delete(ConfigMap, child);
    await poll(isGreeted, { backoff: { duration: 100 }, timeout: 60_000 });
    operator.child.kill("SIGINT");
    const [code] = await operator.closed;
    const lease = await api.client.get(Lease, "default/greeter");
    if (code !== 0 || lease.spec.holderIdentity !== "")
      throw new Error(`the operator did not stop in order:\n${operator.output.join("")}`);
  } finally {
    operator.child.kill("SIGKILL");
    await operator.closed;
    await listener[Symbol.asyncDispose]();
  }
}

/** The operator, with a program in place of kubectl that knows one context, without a namespace as kind makes it. */
function start(project, server) {
  const view = {
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "here", user: "me" } }],
    clusters: [{ name: "here", cluster: { server } }],
    users: [{ name: "me", user: {} }],
  };
  const bin = join(project, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\ncat <<'END'\n${JSON.stringify(view)}\nEND\n`;
  writeFileSync(join(bin, "kubectl"), script, { mode: 0o755 });
  const { KUBERNETES_SERVICE_HOST: _, ...env } = process.env;
  const child = spawn(process.execPath, ["dist/greeter.js"], {
    cwd: project,
    env: { ...env, PORT: "0", PATH: `${bin}${delimiter}${process.env.PATH}` },
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => output.push(text));
  return { child, output, closed: once(child, "close") };
}
