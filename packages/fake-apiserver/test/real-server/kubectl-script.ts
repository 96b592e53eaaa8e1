import { execFile } from "node:child_process";

/** A kubectl, and the server that it talks to. */
export interface Kubectl {
  readonly path: string;
  readonly kubeconfig: string;
  readonly namespace: string;
}

/** What a command printed, and its exit code. */
interface Outcome {
  readonly code: number;
  readonly output: string;
}

const widget = (name: string, spec: object) => ({
  apiVersion: "conformance.example.org/v1",
  kind: "Widget",
  metadata: { name, labels: { app: "kubectl" } },
  spec,
});
const SSA = ["apply", "--server-side", "--validate=false", "-f", "-"];

/** The commands in their order: arguments, and the object on the standard input. */
const COMMANDS: readonly (readonly [args: readonly string[], input?: object])[] = [
  // `create namespace` would send Protobuf, which the double does not read.
  [
    ["create", "--validate=false", "-f", "-"],
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "$(namespace)" } },
  ],
  [["create", "--validate=false", "-f", "-"], widget("one", { color: "red" })],
  [["create", "--validate=false", "-f", "-"], widget("one", { color: "red" })],
  [["get", "widgets", "-o", "name"]],
  [["get", "wi", "one", "-o", "jsonpath={.spec.color} {.spec.size} {.metadata.generation}"]],
  [["get", "widget", "two"]],
  [[...SSA, "--field-manager=a"], widget("two", { color: "green", size: 3 })],
  [[...SSA, "--field-manager=b"], widget("two", { color: "blue" })],
  [[...SSA, "--field-manager=b", "--force-conflicts"], widget("two", { color: "blue" })],
  [["get", "widgets", "-l", "app=kubectl", "-o", "jsonpath={.items[*].spec.color}"]],
  [["get", "widgets", "-l", "app=other", "-o", "name"]],
  [["patch", "widget", "one", "--type=merge", "-p", '{"spec":{"size":7}}']],
  [["patch", "widget", "one", "--type=json", "-p", '[{"op":"remove","path":"/spec/size"}]']],
  [
    [
      "patch",
      "widget",
      "one",
      "--type=json",
      "-p",
      '[{"op":"test","path":"/spec/color","value":"x"}]',
    ],
  ],
  [["patch", "widget", "one", "--type=strategic", "-p", '{"spec":{"size":7}}']],
  [
    [
      "patch",
      "widget",
      "one",
      "--subresource=status",
      "--type=merge",
      "-p",
      '{"status":{"phase":"On"}}',
    ],
  ],
  [["wait", "widget/one", "--for=jsonpath={.status.phase}=On", "--timeout=20s"]],
  [["label", "widget", "one", "tier=web"]],
  [
    [
      "get",
      "widgets",
      "--no-headers",
      "-o",
      "custom-columns=N:.metadata.name,T:.metadata.labels.tier",
    ],
  ],
  [["describe", "widget", "one"]],
  [[...SSA], { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cm" }, data: { a: "1" } }],
  [["patch", "configmap", "cm", "--type=merge", "-p", '{"data":{"b":"2"}}']],
  [["get", "cm", "cm", "-o", "jsonpath={.data}"]],
  [["delete", "widget", "one"]],
  [["wait", "widget/one", "--for=delete", "--timeout=20s"]],
  [["get", "widget", "one"]],
  [["delete", "widgets", "-l", "app=kubectl"]],
  [["delete", "cm", "cm", "--wait=false"]],
  [["get", "widgets,configmaps", "-o", "name"]],
];

/** Runs the commands, and returns what a user sees of each, without times, versions and identifiers. */
export async function kubectlScript(kubectl: Kubectl): Promise<string[]> {
  const seen: string[] = [];
  for (const [args, input] of COMMANDS) {
    const text = input && JSON.stringify(input).replace("$(namespace)", kubectl.namespace);
    const { code, output } = await run(kubectl, args, text);
    seen.push(`$ kubectl ${args.join(" ")}\n${steady(output, kubectl)}exit code ${code}`);
  }
  return seen;
}

function run(
  { path, kubeconfig, namespace }: Kubectl,
  args: readonly string[],
  input = "",
): Promise<Outcome> {
  return new Promise((resolve) => {
    // A cache of discovery below HOME would be shared by both servers.
    const all = [
      "--kubeconfig",
      kubeconfig,
      "--namespace",
      namespace,
      "--cache-dir",
      `${kubeconfig}.cache`,
      ...args,
    ];
    const child = execFile(path, all, { timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, output: `${stdout}\n${stderr}` });
    });
    child.stdin?.end(input);
  });
}

function steady(output: string, { namespace }: Kubectl): string {
  const lines = output
    .replaceAll(namespace, "NAMESPACE")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/(Resource Version: +)\d+/g, "$1VERSION")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("Warning:"));
  return lines.map((line) => `${line}\n`).join("");
}
