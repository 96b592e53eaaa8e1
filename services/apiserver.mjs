// A Kubernetes API server and its etcd. Their directory, ports and certificate last through kills and
// restarts, so that clients find the same server again.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { poll, retry } from "@holdfast/wait";
import { apiServerPrograms } from "./apiserver/build.mjs";
import { freePort } from "./free-port.mjs";
import { makeDirectory, removeDirectory, Server, started } from "./server.mjs";

const run = promisify(execFile);

/** The history is compacted by {@link ApiServer.compact} alone, and no connection is closed at random. */
const STEADY = ["--etcd-compaction-interval=0", "--goaway-chance=0"];

/** The most writes in a transaction of etcd. */
const MOST_WRITES = 128;

export class ApiServer {
  #directory = makeDirectory("apiserver");
  /** @type {import("./apiserver/build.mjs").Programs} */ #programs;
  /** @type {{ api: number, etcd: number, peer: number }} */ #ports;
  /** @type {string[]} */ #flags;
  /** @type {Server | undefined} */ #etcd;
  /** @type {Server | undefined} */ #api;
  #snapshots = 0;

  /** The token of an administrator. */
  adminToken = `admin-${randomUUID()}`;

  /** The token of a user who may only read. With `--authorization-mode=RBAC` that user may do nothing. */
  viewToken = `view-${randomUUID()}`;

  /** @type {string[]} */
  #accounts = [];

  /**
   * @param {import("./apiserver/build.mjs").Programs} programs
   * @param {{ api: number, etcd: number, peer: number }} ports
   * @param {string[]} flags
   */
  constructor(programs, ports, flags) {
    this.#programs = programs;
    this.#ports = ports;
    this.#flags = flags;
    this.url = `https://127.0.0.1:${ports.api}`;
    /** Path of kubectl. */
    this.kubectlPath = programs.kubectl;
    /** Path of a kubeconfig of the administrator. */
    this.kubeconfig = this.#path("kubeconfig");
    this.#writeTokens();
  }

  /**
   * Builds the server if it is not built yet, and starts it.
   *
   * @param {AbortSignal} [signal]
   * @param {string[]} [flags] of the API server, for example `--min-request-timeout=5`, with which it
   * closes each watch after 5 to 10 s, or `--authorization-mode=RBAC`, with which roles decide
   * @throws UnavailableError if it cannot be built here
   */
  static async start(signal, flags = []) {
    const programs = await apiServerPrograms(signal);
    const start = async () => {
      const [api, etcd, peer] = [await freePort(), await freePort(), await freePort()];
      return await started(new ApiServer(programs, { api, etcd, peer }, flags), signal);
    };
    // Another program may have taken a port by then.
    const shouldRetry = ({ error }) => /address already in use/.test(`${error}`);
    return await retry(start, { retries: 3, backoff: { duration: 100 }, shouldRetry, signal });
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    await this.startEtcd(signal);
    await this.startApi(signal);
    writeFileSync(this.kubeconfig, JSON.stringify(this.kubeconfigObject));
  }

  /** Version of the API server's library. */
  get version() {
    return this.#programs.version;
  }

  /** The authority of the server's certificate, PEM. */
  get ca() {
    return readFileSync(this.#path("cert/apiserver.crt"), "utf8");
  }

  /** The kubeconfig of the administrator. */
  get kubeconfigObject() {
    return {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      contexts: [
        { name: "test", context: { cluster: "test", user: "admin", namespace: "default" } },
      ],
      clusters: [
        {
          name: "test",
          cluster: {
            server: this.url,
            "certificate-authority-data": Buffer.from(this.ca).toString("base64"),
          },
        },
      ],
      users: [{ name: "admin", user: { token: this.adminToken } }],
    };
  }

  /** Process id of the API server. */
  get pid() {
    return this.#api?.pid ?? 0;
  }

  /**
   * A token of a service account. With the flag `--authorization-mode=RBAC` it may do what roles grant, as on a
   * full cluster; without it, everything.
   *
   * @param {string} namespace
   * @param {string} name
   */
  serviceAccountToken(namespace, name) {
    const token = `account-${randomUUID()}`;
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
    this.#accounts.push([token, `system:serviceaccount:${namespace}:${name}`, ...groups].join(","));
    this.#writeTokens();
    return token;
  }

  /** Replaces the administrator's token, also in the kubeconfig. The old one is answered 401 from now on. */
  rotateToken() {
    this.adminToken = `admin-${randomUUID()}`;
    this.#writeTokens();
    writeFileSync(this.kubeconfig, JSON.stringify(this.kubeconfigObject));
    return this.adminToken;
  }

  /**
   * Starts the API server alone, and waits until it is ready.
   *
   * @param {AbortSignal} [signal]
   */
  async startApi(signal) {
    this.#api = await this.#launchApi(signal, () => this.#get("/readyz"));
  }

  /**
   * Starts the API server alone, and waits until it answers at all: it may still refuse requests.
   *
   * @param {AbortSignal} [signal]
   */
  async startApiEarly(signal) {
    this.#api = await this.#launchApi(signal, () => this.#get("/version"));
  }

  /** Kills the API server alone with SIGKILL. Its etcd goes on. */
  async kill() {
    await this.#api?.kill();
  }

  /** Stops the API server alone in good order. */
  async stopApi() {
    await this.#api?.stop();
  }

  /**
   * Kills the API server and starts it again.
   *
   * @param {string[]} [flags] in place of those it had
   * @param {AbortSignal} [signal]
   */
  async restart(flags = this.#flags, signal) {
    this.#flags = flags;
    await this.kill();
    await this.startApi(signal);
  }

  /** @param {AbortSignal} [signal] */
  async startEtcd(signal) {
    const { etcd, peer } = this.#ports;
    const [client, other] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
    this.#etcd = await Server.start(
      {
        name: "etcd",
        directory: this.#directory,
        command: this.#programs.etcd,
        args: [
          ...["--data-dir", this.#path("etcd"), "--unsafe-no-fsync", "--log-level", "error"],
          ...["--listen-client-urls", client, "--advertise-client-urls", client],
          ...["--listen-peer-urls", other, "--initial-advertise-peer-urls", other],
          ...["--initial-cluster", `default=${other}`],
        ],
        greet: () => this.#askEtcd("/health"),
      },
      signal,
    );
  }

  /** Stops etcd. The API server goes on without it. */
  async stopEtcd() {
    await this.#etcd?.stop();
  }

  /**
   * Copies the data of etcd, which is stopped for that.
   *
   * @returns {Promise<string>} folder of the copy, for {@link restore}
   */
  async snapshot() {
    this.#snapshots += 1;
    const copy = this.#path(`snapshot-${this.#snapshots}`);
    await this.stopEtcd();
    cpSync(this.#path("etcd"), copy, { recursive: true });
    await this.startEtcd();
    await this.#reconnected();
    return copy;
  }

  /**
   * Puts the data of etcd back, as an administrator does after a loss. The API server is started again too:
   * its caches would know more than etcd.
   *
   * @param {string} copy from {@link snapshot}
   */
  async restore(copy) {
    await this.kill();
    await this.stopEtcd();
    rmSync(this.#path("etcd"), { recursive: true });
    cpSync(copy, this.#path("etcd"), { recursive: true });
    await this.startEtcd();
    await this.startApi();
  }

  /**
   * Compacts all versions up to now in etcd. The watch cache of the API server still knows those of its
   * lifetime: {@link restart} it for 410 in a watch from them.
   */
  async compact() {
    const { header } = await this.#askEtcd("/v3/kv/range", { key: "AA==" });
    await this.#askEtcd("/v3/kv/compaction", { revision: header.revision, physical: true });
  }

  /** Gives the space of compacted versions back. etcd answers nobody meanwhile. */
  async defragment() {
    await this.#askEtcd("/v3/maintenance/defragment", {});
  }

  /**
   * Writes custom objects into etcd, past the API server: 50,000 requests would take minutes.
   *
   * @param {string} collection group and plural, for example `example.org/widgets`
   * @param {{ metadata: { name: string, namespace: string } }[]} objects as the server stores them
   */
  async seed(collection, objects) {
    const base64 = (/** @type {string} */ text) => Buffer.from(text).toString("base64");
    for (let from = 0; from < objects.length; from += MOST_WRITES) {
      const puts = objects.slice(from, from + MOST_WRITES).map((object) => {
        const { namespace, name } = object.metadata;
        const key = base64(`/registry/${collection}/${namespace}/${name}`);
        return { requestPut: { key, value: base64(JSON.stringify(object)) } };
      });
      await this.#askEtcd("/v3/kv/txn", { success: puts });
    }
  }

  /**
   * Runs kubectl as the administrator.
   *
   * @param {...string} args
   * @returns {Promise<string>} its output
   */
  async kubectl(...args) {
    const home = this.#path("home"); // of its caches
    mkdirSync(home, { recursive: true });
    const env = { ...process.env, HOME: home, KUBECONFIG: this.kubeconfig };
    const { stdout } = await run(this.kubectlPath, args, { env, maxBuffer: 64 * 1_024 ** 2 });
    return stdout;
  }

  /** Stops for good. */
  async [Symbol.asyncDispose]() {
    await this.#api?.kill();
    await this.#etcd?.kill();
    removeDirectory(this.#directory);
  }

  /** @param {string} name */
  #path(name) {
    return join(this.#directory, name);
  }

  /**
   * @param {AbortSignal | undefined} signal
   * @param {() => Promise<unknown>} greet
   */
  async #launchApi(signal, greet) {
    return await Server.start(
      {
        name: "Kubernetes API server",
        directory: this.#directory,
        command: this.#programs.devapi,
        args: [
          ...[
            "--etcd-servers",
            `http://127.0.0.1:${this.#ports.etcd}`,
            "--etcd-prefix",
            "/registry",
          ],
          ...["--bind-address", "127.0.0.1", "--secure-port", `${this.#ports.api}`],
          ...["--cert-dir", this.#path("cert"), "--token-file", this.#path("tokens")],
          ...STEADY,
          ...this.#flags,
        ],
        greet,
      },
      signal,
    );
  }

  /** The API server may read the file at any time: it changes all at once. */
  #writeTokens() {
    const admin = `${this.adminToken},admin,system:masters`;
    const lines = [admin, `${this.viewToken},viewer,view`, ...this.#accounts];
    writeFileSync(this.#path("tokens.new"), `${lines.join("\n")}\n`, { mode: 0o600 });
    renameSync(this.#path("tokens.new"), this.#path("tokens"));
  }

  /** Waits until the API server has found its etcd again, which takes it longer the longer etcd was away. */
  async #reconnected() {
    await poll(() => this.#get("/readyz").then(() => true), {
      backoff: { duration: 50, cap: 500 },
      timeout: 60_000,
      onError: () => undefined,
    });
  }

  /** @param {string} path */
  async #get(path) {
    const { ca } = this;
    const headers = { authorization: `Bearer ${this.adminToken}` };
    await answerTo(httpsRequest(`${this.url}${path}`, { ca, headers, agent: false }));
  }

  /**
   * @param {string} path
   * @param {object} [body]
   */
  async #askEtcd(path, body) {
    const method = body === undefined ? "GET" : "POST";
    const url = `http://127.0.0.1:${this.#ports.etcd}${path}`;
    const text = await answerTo(
      httpRequest(url, { method, agent: false }),
      body === undefined ? "" : JSON.stringify(body),
    );
    return JSON.parse(text);
  }
}

/**
 * @param {import("node:http").ClientRequest} request
 * @param {string} [body]
 * @returns {Promise<string>}
 */
async function answerTo(request, body = "") {
  return await new Promise((resolve, reject) => {
    request.setTimeout(5_000, () => request.destroy(new Error("no response within 5 s")));
    request.on("error", reject);
    request.on("response", async (response) => {
      let text = "";
      try {
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
      } catch (error) {
        reject(error);
      }
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`${response.statusCode}: ${text}`));
    });
    request.end(body);
  });
}
