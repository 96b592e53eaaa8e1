import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type PodTemplate, RESTRICTED } from "../../../test/pod-security.ts";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec: {
    readonly template: PodTemplate & {
      readonly spec: { readonly topologySpreadConstraints?: readonly object[] };
    };
  };
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const examples = readdirSync(join(root, "packages/examples/src"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => join(root, "packages/examples/src", name, "deploy"));

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // an example without manifests
  }
}

const manifests = [join(root, "packages/create-operator/template/deploy"), ...examples]
  .flatMap(filesOf)
  .filter((file) => file.endsWith(".yaml"))
  .flatMap((file) =>
    parseAllDocuments(readFileSync(file, "utf8")).map((document) => ({
      file: relative(root, file),
      manifest: document.toJS() as Manifest,
    })),
  );
const deployments = manifests.filter(({ manifest }) => manifest.kind === "Deployment");

/** A pod that breaks every control. */
const broken: PodTemplate = {
  metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" } },
  spec: {
    hostNetwork: true,
    volumes: [{ name: "root", hostPath: { path: "/" } }],
    securityContext: {
      windowsOptions: { hostProcess: true },
      sysctls: [{ name: "kernel.msgmax" }],
      seLinuxOptions: { type: "spc_t" },
      runAsUser: 0,
    },
    containers: [
      {
        ports: [{ hostPort: 80 }],
        livenessProbe: { httpGet: { host: "example.org" } },
        securityContext: { privileged: true, procMount: "Unmasked" },
      },
    ],
  },
};

describe("the Pod Security Standard restricted", () => {
  it.each(Object.keys(RESTRICTED))("%s is broken by a pod without care", (control) => {
    expect(RESTRICTED[control]?.(broken)).toBe(false);
  });

  describe.each(deployments)("holds for $file", ({ manifest }) => {
    it.each(Object.keys(RESTRICTED))("%s", (control) => {
      expect(RESTRICTED[control]?.(manifest.spec.template)).toBe(true);
    });
  });

  it("is enforced in the namespace of the made project", () => {
    const namespaces = manifests.filter(
      ({ file, manifest }) => file.includes("template") && manifest.kind === "Namespace",
    );
    expect(namespaces.map(({ manifest }) => manifest.metadata.labels)).toEqual([
      { "pod-security.kubernetes.io/enforce": "restricted" },
    ]);
  });
});

it("spreads the replicas of every Deployment over the nodes", () => {
  expect(deployments.length).toBeGreaterThan(3);
  const alone = deployments.filter(
    ({ manifest }) => manifest.spec.template.spec.topologySpreadConstraints === undefined,
  );
  expect(alone.map(({ file }) => file)).toEqual([]);
});
