import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runBin } from "./run-bin.ts";

const folder = mkdtempSync(join(tmpdir(), "rules-"));
afterAll(() => rmSync(folder, { recursive: true }));

const dist = (entry: string) =>
  JSON.stringify(import.meta.resolve(entry).replace("/src/", "/dist/").replace(/\.ts$/, ".js"));

/** A test run of its own: a process with two fake servers, whose requests are recorded. */
function record(file: string, lines: readonly string[]): void {
  const program = [
    `const { FakeClock } = await import(${dist("@holdfast/clock/testing")});`,
    `const { builtIn, KubeClient } = await import(${dist("@holdfast/kubernetes")});`,
    `const { FakeApi } = await import(${dist("@holdfast/fake-apiserver")});`,
    'const ConfigMap = builtIn("v1", "ConfigMap");',
    'const Lease = builtIn("coordination.k8s.io/v1", "Lease");',
    "const clock = new FakeClock();",
    "const make = () => {",
    "  const api = new FakeApi({ clock, resources: [ConfigMap, Lease] });",
    '  const client = new KubeClient({ transport: api.transport, fieldManager: "t", clock });',
    "  return { api, client };",
    "};",
    ...lines,
  ];
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program.join("\n")],
    {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, HOLDFAST_RULES: file },
    },
  );
  expect([status, stderr]).toEqual([0, ""]);
}

const rolesOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await runBin(["rules", ...args], folder);
  expect([code, stderr]).toEqual([0, ""]);
  return parseAllDocuments(stdout).map((document) => document.toJS());
};

describe("rules", () => {
  it("prints a ClusterRole for the requests of several servers in several processes", async () => {
    const file = "run.jsonl";
    record(file, [
      "const one = make(), two = make();",
      'await one.client.find(ConfigMap, "a/x");',
      'await two.client.find(ConfigMap, "b/x");',
      'await two.client.find(Lease, "a/x");',
      'await two.api.client.create(ConfigMap, { metadata: { namespace: "a", name: "y" } });',
    ]);
    record(file, ['await make().client.delete(ConfigMap, "a/x").catch(() => {});']);
    expect(await rolesOf(file, "--name", "greeter")).toEqual([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "greeter" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["delete", "get"] }],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "greeter" },
        rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] }],
      },
    ]);
    const { stdout } = await runBin(["rules", file], folder);
    expect(stdout).toContain(
      "---\n# For the namespace of the operator: kubectl apply --namespace ",
    );
  });

  const explored = (options: string) => [
    `const { explore } = await import(${dist("@holdfast/fake-apiserver")});`,
    "await explore({",
    `  ${options},`,
    "  time: 1,",
    "  resources: [ConfigMap],",
    "  setup,",
    '  scenario: ({ client }) => client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } }),',
    "});",
  ];
  const run = (options: string) => [
    `const { runOperator } = await import(${dist("@holdfast/kubernetes")});`,
    `const { silentLogger } = await import(${dist("@holdfast/controller")});`,
    "const { api } = make();",
    'await api.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });',
    "const stop = new AbortController();",
    "const { transport } = api;",
    'const options = { name: "a", transport, setup, health: false, clock, logger: silentLogger };',
    "await clock.run(async () => {",
    `  const running = runOperator({ ...options, ${options} }, stop.signal);`,
    "  await clock.sleep(120_000);",
    "  stop.abort();",
    "  await running;",
    "});",
  ];

  it.each([
    ["is explored with replicas", explored("replicas: 2")],
    ["is explored with shards", explored("replicas: 2, shards: { count: 2 }")],
    ["elects in a namespace of the test", run('leaderElection: { namespace: "test" }')],
    ["has shards in a namespace of the test", run('shards: { count: 2, namespace: "test" }')],
    [
      "elects in two namespaces",
      [...run('leaderElection: { namespace: "test" }'), ...explored("replicas: 2")],
    ],
  ])(
    "prints a Role for the Leases of an operator that %s, in no ClusterRole",
    async (name, lines) => {
      const file = `${name.replaceAll(" ", "-")}.jsonl`;
      record(file, [
        "const setup = ({ cluster, client, controller }) => {",
        "  const maps = cluster.watch(ConfigMap);",
        "  const reconcile = async ({ key, signal }) => {",
        '    await client.patch(ConfigMap, key, { data: { seen: "yes" } }, { signal });',
        "  };",
        '  return () => [controller({ name: "a", sources: [maps.source()], reconcile })];',
        "};",
        ...lines,
      ]);
      const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
      const verbs = expect.arrayContaining(["create", "get", "update"]);
      for (const place of [{ namespace: "ops" }, {}]) {
        const args = Object.entries(place).flatMap(([option, value]) => [`--${option}`, value]);
        expect(await rolesOf(file, "--name", "greeter", ...args)).toEqual([
          expect.objectContaining({
            kind: "ClusterRole",
            rules: [
              { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "patch", "watch"] },
            ],
          }),
          expect.objectContaining({
            kind: "Role",
            metadata: { name: "greeter", ...place },
            rules: [{ ...leases, verbs }],
          }),
        ]);
      }
    },
  );

  it("prints a ClusterRole for Leases that are watched in all namespaces", async () => {
    const file = "leases.jsonl";
    record(file, [
      "const { client } = make();",
      "for await (const _ of client.list(Lease));",
      'await client.find(Lease, "a/x");',
    ]);
    const verbsOf = (verb: string) => [
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: [verb] },
    ];
    expect(await rolesOf(file, "--namespace", "ops")).toEqual([
      expect.objectContaining({ kind: "ClusterRole", rules: verbsOf("list") }),
      expect.objectContaining({ kind: "Role", rules: verbsOf("get") }),
    ]);
  });

  it("prints a Role for the rights that one namespace alone needs", async () => {
    const file = "namespace.jsonl";
    record(file, [
      "const { api, client } = make();",
      'await client.find(Lease, "ops/x");',
      'await client.find(ConfigMap, "ops/x");',
      'await client.find(ConfigMap, "b/x");',
      'await api.transport.send({ method: "GET", path: "/metrics", headers: {} }, new AbortController().signal);',
    ]);
    expect(await rolesOf(file, "--namespace", "ops")).toEqual([
      expect.objectContaining({
        kind: "ClusterRole",
        metadata: { name: "operator" },
        rules: [
          { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
          { nonResourceURLs: ["/metrics"], verbs: ["get"] },
        ],
      }),
      expect.objectContaining({
        kind: "Role",
        metadata: { name: "operator", namespace: "ops" },
        rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] }],
      }),
    ]);
  });

  it.each([
    ["", "it.jsonl has no rules"],
    ["hello\n", "it.jsonl line 1 is not a rule that FakeApi has recorded"],
    ['\n{"rule":{}}\n', "it.jsonl line 2 is not a rule that FakeApi has recorded"],
  ])("refuses the file %j with one line and exit code 2", async (text, problem) => {
    writeFileSync(join(folder, "it.jsonl"), text);
    expect(await runBin(["rules", "it.jsonl"], folder)).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: ${problem}\n`,
    });
  });

  it.each<[string[], string]>([
    [["rules"], "FILE is missing; see --help"],
    [
      ["rules", "none.jsonl"],
      "none.jsonl cannot be read; run the tests with HOLDFAST_RULES=none.jsonl first",
    ],
    [
      ["rules", "none.jsonl", "--namespace", "A"],
      '--namespace must be a namespace: at most 63 of a-z, 0-9 and -, no - at either end, got "A"',
    ],
    [["roles"], "COMMAND must be one of rules, got roles; see --help"],
  ])("refuses %j with one line and exit code 2", async (args, problem) => {
    expect(await runBin(args, folder)).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: ${problem}\n`,
    });
  });
});
