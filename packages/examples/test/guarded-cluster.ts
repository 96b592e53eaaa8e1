import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atUrl, KubeClient, type KubeTransport } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { ApiServer } from "../../../services/apiserver.mjs";

/** Logs each request when it is answered, without its body. */
const POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "Metadata" }],
  omitStages: ["RequestReceived"],
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly rules?: readonly Rule[];
  readonly spec?: {
    readonly template?: { readonly spec: { readonly serviceAccountName: string } };
  };
}

interface List {
  readonly items: readonly Pick<Manifest, "metadata">[];
}

/** A line of the server's audit log. */
interface Entry {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly apiGroup?: string; resource: string; subresource?: string };
  readonly responseStatus: { readonly code: number };
}

/** A real API server on which roles decide, with the manifests of an operator applied to it. */
export class GuardedCluster implements AsyncDisposable {
  readonly server: ApiServer;
  /** A client that may do everything. */
  readonly admin: KubeClient;
  /** Namespace of the operator's Deployment. */
  readonly namespace: string;
  /** The way of the operator's service account. */
  readonly transport: KubeTransport;
  readonly #manifests: readonly Manifest[];
  readonly #account: string;
  readonly #directory: string;

  private constructor(server: ApiServer, manifests: readonly Manifest[], directory: string) {
    const deployment = manifests.find(({ kind }) => kind === "Deployment");
    const name = deployment?.spec?.template?.spec.serviceAccountName ?? "";
    const { url, ca, adminToken } = server;
    this.server = server;
    this.namespace = deployment?.metadata.namespace ?? "";
    const token = server.serviceAccountToken(this.namespace, name);
    this.admin = new KubeClient({ transport: atUrl(url, { ca, token: () => adminToken }) });
    this.transport = atUrl(url, { ca, token: () => token });
    this.#manifests = manifests;
    this.#account = `system:serviceaccount:${this.namespace}:${name}`;
    this.#directory = directory;
  }

  /**
   * @param manifestFiles - manifests in the order in which a user applies them; one is a Deployment
   * @param crd - a definition that is in no file, applied first
   */
  static async start(manifestFiles: readonly string[], crd?: object): Promise<GuardedCluster> {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-guarded-"));
    const files = [...manifestFiles];
    if (crd !== undefined) {
      files.unshift(join(directory, "crd.json"));
      writeFileSync(join(directory, "crd.json"), JSON.stringify(crd));
    }
    const [policy, log] = [join(directory, "policy"), join(directory, "log")];
    writeFileSync(policy, JSON.stringify(POLICY));
    const audit = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
    const server = await ApiServer.start(undefined, ["--authorization-mode=RBAC", ...audit]);
    const texts = files.map((file) => readFileSync(file, "utf8"));
    const manifests = texts.flatMap((text) => parseAllDocuments(text)).map((one) => one.toJS());
    const cluster = new GuardedCluster(server, manifests as Manifest[], directory);
    try {
      await server.kubectl("apply", ...files.flatMap((file) => ["-f", file]));
      await cluster.#rolesCount();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** What the roles of the manifests grant, each as `group/resource verb`. */
  get granted(): string[] {
    const rules = this.#manifests.flatMap(({ rules: own = [] }) => own);
    const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
      ),
    );
    return [...new Set(rights)].sort();
  }

  /** What the account has done, each as `group/resource verb`. */
  get used(): string[] {
    const allowed = this.#requests().filter(({ responseStatus: { code } }) => code !== 403);
    return [...new Set(allowed.flatMap(rightsOf))].sort();
  }

  /** What the account was denied, each as `verb path`. */
  get denied(): string[] {
    const denied = this.#requests().filter(({ responseStatus: { code } }) => code === 403);
    return denied.map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  }

  /** Waits for a state of the cluster. A denied request ends the test, since it may never come then. */
  async until(isThere: () => Promise<boolean>, timeout = 60_000): Promise<void> {
    const check = async (): Promise<boolean> => {
      expect(this.denied).toEqual([]);
      return await isThere();
    };
    await poll(check, { timeout });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport.closeIdle?.();
    await this.server[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #requests(): Entry[] {
    const lines = readFileSync(join(this.#directory, "log"), "utf8").trim().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    return entries.filter(({ user }) => user.username === this.#account);
  }

  /** Waits until the server's cache, from which it authorizes, has the roles and their bindings. */
  async #rolesCount(): Promise<void> {
    const root = "/apis/rbac.authorization.k8s.io/v1";
    const isThere = async ({ kind, metadata }: Manifest): Promise<boolean> => {
      const path = `${root}/${kind.toLowerCase()}s`;
      const { items } = await this.admin.request<List>({ path, query: { resourceVersion: 0 } });
      return items.some((item) => item.metadata.name === metadata.name);
    };
    const roles = this.#manifests.filter(({ kind }) => /Role(?:Binding)?$/.test(kind));
    for (const role of roles) await poll(() => isThere(role), { timeout: 60_000 });
  }
}

/** The rights that a request takes. An apply that creates the object takes two. */
function rightsOf({ verb, objectRef, requestURI, responseStatus: { code } }: Entry): string[] {
  if (objectRef === undefined) return [`${requestURI} ${verb}`];
  const { apiGroup = "", resource, subresource } = objectRef;
  const name = `${apiGroup}/${subresource === undefined ? resource : `${resource}/${subresource}`}`;
  const created = verb === "patch" && code === 201 ? [`${name} create`] : [];
  return [`${name} ${verb}`, ...created];
}
