import type { Clock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  between,
  func,
  type Kinds,
  kind,
  loopClock,
  read,
  required,
  requireOptions,
  requireWord,
  text,
  whole,
} from "@holdfast/kit";
import type { Webhook } from "@holdfast/kubernetes";
import { KubeClient, type KubeTransport, type Resource } from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { ApiServer } from "./api-server.ts";
import { DESCRIPTION } from "./connection-error.ts";
import { checkCrd } from "./definition/crd-check.ts";
import type { FakeRequest, FaultRule, HookFaultRule } from "./faults.ts";
import { HttpFront } from "./http-front.ts";
import { array, resourceList, webhookList } from "./kinds.ts";
import { servedResources } from "./resource/served-resource.ts";
import { type PolicyRule, Rights, type RoleManifest } from "./rights.ts";
import { ApiState, type StateSnapshot } from "./state/api-state.ts";
import { HookCluster, prepare } from "./webhooks/hook-cluster.ts";

export const FAKE_API_OPTIONS: Kinds<FakeApiOptions> = {
  clock: required(loopClock),
  resources: required(resourceList),
  random: func,
  keptRequests: whole(1),
  rules: array,
  webhooks: webhookList,
};

export const FAKE_API_START_OPTIONS: Kinds<FakeApiStartOptions> = {
  history: kind("history", requireHistory),
};

export const FAKE_API_LISTEN_OPTIONS: Kinds<FakeApiListenOptions> = {
  port: between(0, 65_535),
  token: text,
};

/** Options for {@link FakeApi}. */
export interface FakeApiOptions {
  /** The clock by which the server dates objects, ends watches and sends bookmarks. */
  readonly clock: Clock;

  /** The resources that the server has, with `Lease` for an election. Those of `fromCrd` bring their schema along. */
  readonly resources: readonly Resource[];

  /**
   * Randomness of uids, of generated names and of the time after which a watch without a timeout ends.
   *
   * @defaultValue `seededRandom(1)`
   */
  readonly random?: Random | undefined;

  /**
   * How many of the latest requests {@link FakeApi.requests} has, at least; it has at most
   * twice as many. An integer of at least 1. A server that runs for hours needs fewer.
   *
   * @defaultValue `10_000`
   */
  readonly keptRequests?: number | undefined;

  /**
   * Rights of the clients of {@link FakeApi.transport} and {@link FakeApi.listen}: rules, which hold everywhere, and
   * the manifests of a Role, which hold in its namespace, or a ClusterRole. Everything else is answered with 403
   * `Forbidden`, in the words of a real server. {@link FakeApi.client} may do everything.
   *
   * @defaultValue none: everything is allowed
   */
  readonly rules?: readonly (PolicyRule | RoleManifest)[] | undefined;

  /**
   * Admission webhooks, as the `webhooks.hooks` of an operator. The server asks them about writes as a real one does:
   * mutating ones in this order, then the schema, then all validating ones at once. Their rules, selectors and conditions
   * decide which; `failurePolicy` decides if one fails, see {@link FakeApi.intercept}. Conditions need the peer
   * `@marcbachmann/cel-js`. Their `setup` is called once; its informers have the objects of this server at each review.
   *
   * @defaultValue none
   */
  readonly webhooks?: readonly Webhook[] | undefined;
}

/** Options for {@link FakeApi.start}. */
export interface FakeApiStartOptions {
  /**
   * Whether the server still knows its history. `"lost"`: watches and pages from versions before the start
   * get 410, as after the restart of a real server.
   *
   * @defaultValue `"kept"`
   */
  readonly history?: "kept" | "lost" | undefined;
}

/** Options for {@link FakeApi.listen}. */
export interface FakeApiListenOptions {
  /**
   * Port on 127.0.0.1.
   *
   * @defaultValue `0`: any free port
   */
  readonly port?: number | undefined;

  /**
   * Bearer token that every request must carry. kubectl sends none over plain HTTP.
   *
   * @defaultValue none: every request is accepted
   */
  readonly token?: string | undefined;
}

/** A {@link FakeApi} that listens. Disposing of it closes the port and every connection. */
export interface FakeApiListener extends AsyncDisposable {
  /** Address, for example `http://127.0.0.1:36123`. */
  readonly url: string;
}

/** The objects of a {@link FakeApi} at one moment, for {@link FakeApi.restore}. */
export interface FakeApiSnapshot {
  /** The server's version at that moment. */
  readonly version: number;
}

/**
 * A Kubernetes API server in memory, on a clock: an hour with restarts passes in a fraction of a second,
 * and every run is the same.
 *
 * It responds as a real server does, which recordings of a real one show: versions, conflicts, lists in
 * pages, watches with bookmarks and 410, status, generations, finalizers, merge and JSON patches,
 * server-side apply, schemas and rules of custom resources, rights, discovery. It has no admission, no defaults and no
 * validation of built-in types, no controllers, and no strategic merge patches: those get 415.
 *
 * `kubectl get` prints the columns of the manifests. Their paths may have names, indexes, `[*]` and one comparison,
 * as in `[?(@.type=="Ready")]`; columns with other paths are empty.
 *
 * An apply to a list of a built-in type of which it does not know how Kubernetes merges it is answered
 * with 501 `NotImplemented`.
 *
 * @example
 * ```ts
 * import { customResource } from "@holdfast/kubernetes";
 * import { FakeApi } from "@holdfast/fake-apiserver";
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * const Greeting = customResource({
 *   apiVersion: "example.org/v1", kind: "Greeting", plural: "greetings",
 * });
 * const api = new FakeApi({ clock: new FakeClock(), resources: [Greeting] });
 * const path = "/apis/example.org/v1/namespaces/default/greetings/ann";
 * const { signal } = new AbortController();
 * const { status } = await api.transport.send({ method: "GET", path, headers: {} }, signal);
 * console.log(status, api.requests[0]?.verb); // => 404 get
 * ```
 */
export class FakeApi {
  /** The way to this server, for clients in the same process. */
  readonly transport: KubeTransport;

  /** A client of this server, to arrange and to look: as a user with kubectl would. */
  readonly client: KubeClient;

  /**
   * The objects of the server.
   *
   * @internal
   */
  protected readonly state: ApiState = new ApiState();

  /**
   * Responds to requests.
   *
   * @internal
   */
  protected readonly server: ApiServer;
  readonly #rights: Rights;
  readonly #fronts = new Set<HttpFront>();

  /**
   * @param options - see {@link FakeApiOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: FakeApiOptions) {
    const given = read("options", options, "FakeApi", FAKE_API_OPTIONS);
    const { clock, resources, random = seededRandom(1), keptRequests = 10_000, rules } = given;
    const { webhooks } = given;
    const rights = new Rights(rules);
    this.#rights = rights;
    const served = servedResources(resources);
    const warnings = served.flatMap((one) => {
      const index = resources.findIndex(
        ({ crd, kind }) => crd === one.resource.crd && kind === one.kind,
      );
      return checkCrd(one, `options.resources[${index}]`);
    });
    for (const text of new Set(warnings)) process.emitWarning(`FakeApi: ${text}`, "FakeApiWarning");
    const transportOf = (given?: Rights): KubeTransport => ({
      description: DESCRIPTION,
      send: (request, signal) => this.server.send(request, signal, given),
    });
    this.transport = transportOf(rights);
    this.client = new KubeClient({ transport: transportOf(), fieldManager: "fake-api", clock });
    const logger = silentLogger;
    const common = { transport: this.transport, fieldManager: "webhooks", clock, logger };
    const cluster = new HookCluster(common, ({ apiVersion, plural }) =>
      served.some((one) => one.apiVersion === apiVersion && one.plural === plural),
    );
    const webhookContext = { client: cluster.client, clock, logger, cluster };
    this.server = new ApiServer({
      ...{ state: this.state, clock, random, served, keptRequests, webhooks, webhookContext },
    });
    for (const hook of webhooks ?? []) prepare(hook, webhookContext);
  }

  /**
   * The least list of rules that allows the requests of {@link FakeApi.transport} and {@link FakeApi.listen} so far,
   * sorted, as a manifest has it. Requests that were refused count too. Discovery needs no rule.
   *
   * If the environment variable `HOLDFAST_RULES` names a file, each rule is appended to it as well, and
   * `npx @holdfast/fake-apiserver rules FILE` makes a manifest of the whole test run.
   *
   * @example
   * ```ts
   * import { builtIn, KubeClient } from "@holdfast/kubernetes";
   * import { FakeApi } from "@holdfast/fake-apiserver";
   * import { FakeClock } from "@holdfast/clock/testing";
   *
   * const clock = new FakeClock();
   * const ConfigMap = builtIn("v1", "ConfigMap");
   * const api = new FakeApi({ clock, resources: [ConfigMap] });
   * const client = new KubeClient({ transport: api.transport, fieldManager: "me", clock });
   * await client.find(ConfigMap, "default/a");
   * console.log(JSON.stringify(api.rulesUsed()));
   * // => [{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]
   * ```
   */
  rulesUsed(): PolicyRule[] {
    return this.#rights.used();
  }

  /**
   * The least list of rules that allows the requests that `options.rules` has refused so far, sorted, as a manifest
   * has it. Empty if the rules suffice.
   *
   * @example
   * ```ts
   * import { builtIn, KubeClient } from "@holdfast/kubernetes";
   * import { FakeApi } from "@holdfast/fake-apiserver";
   * import { FakeClock } from "@holdfast/clock/testing";
   *
   * const clock = new FakeClock();
   * const ConfigMap = builtIn("v1", "ConfigMap");
   * const api = new FakeApi({ clock, resources: [ConfigMap], rules: [] });
   * const client = new KubeClient({ transport: api.transport, fieldManager: "me", clock });
   * await client.delete(ConfigMap, "default/a").catch((error) => console.log(error.reason)); // => Forbidden
   * console.log(JSON.stringify(api.rulesMissing()));
   * // => [{"apiGroups":[""],"resources":["configmaps"],"verbs":["delete"]}]
   * ```
   */
  rulesMissing(): PolicyRule[] {
    return this.#rights.missing();
  }

  /** The parts of `options.rules` that no request has needed so far, sorted, as a manifest has them. */
  rulesUnused(): PolicyRule[] {
    return this.#rights.unused();
  }

  /** The latest requests, at least `keptRequests` of them, in the order in which they arrived. */
  get requests(): readonly FakeRequest[] {
    return this.server.requests;
  }

  /** Stops the server, as `kill -9` does: open requests and watches are reset, new ones refused. */
  stop(): void {
    this.server.connections.isAccepting = false;
    this.server.connections.cut();
    for (const front of this.#fronts) front.stop();
  }

  /**
   * Starts the server again, with all its objects. Its transport accepts requests when the call returns, ports of
   * {@link listen} when the promise resolves.
   *
   * @param options - see {@link FakeApiStartOptions}
   * @returns a promise. Rejects if the port of a listener is taken meanwhile; the server is stopped then, and may be
   * started again. Rejects with a RangeError or TypeError that names a bad option
   */
  async start(options: FakeApiStartOptions = {}): Promise<void> {
    const { history = "kept" } = read("options", options, "start", FAKE_API_START_OPTIONS);
    if (history === "lost") this.compact();
    if (this.server.connections.isAccepting) return;
    this.server.connections.isAccepting = true;
    const starts = await Promise.allSettled([...this.#fronts].map((front) => front.start()));
    const failure = starts.find((start) => start.status === "rejected");
    if (failure === undefined) return;
    this.stop();
    throw failure.reason;
  }

  /** Forgets all versions but the current one: watches and pages from older ones get 410. */
  compact(): void {
    this.state.compact();
  }

  /** The objects as they are now, for {@link restore}. */
  snapshot(): FakeApiSnapshot {
    return this.state.snapshot();
  }

  /**
   * Puts the objects and the version back to those of a snapshot, as when etcd is restored from a backup. One of another
   * `FakeApi` brings its objects under the definitions of this one. Open requests and watches are reset.
   */
  restore(snapshot: FakeApiSnapshot): void {
    requireOptions("snapshot", snapshot);
    this.server.connections.cut();
    this.state.restore(snapshot as StateSnapshot);
  }

  /**
   * Lets requests go wrong, or the calls of a webhook. If several rules cover a request, the latest decides.
   *
   * @param rule - see {@link FaultRule} and {@link HookFaultRule}
   * @returns an object whose disposal takes the rule back
   * @throws RangeError or TypeError that names the option
   *
   * @example
   * ```ts
   * import { FakeApi } from "@holdfast/fake-apiserver";
   * import { FakeClock } from "@holdfast/clock/testing";
   *
   * const api = new FakeApi({ clock: new FakeClock(), resources: [] });
   * api.intercept({ fault: { type: "status", status: 503 }, times: 1 });
   * const { signal } = new AbortController();
   * const ask = () => api.transport.send({ method: "GET", path: "/apis", headers: {} }, signal);
   * console.log((await ask()).status, (await ask()).status); // => 503 200
   * ```
   */
  intercept(rule: FaultRule | HookFaultRule): Disposable {
    requireOptions("rule", rule);
    const { server } = this;
    return "hook" in rule ? server.hookFaults.add(rule, server.hooks) : server.faults.add(rule);
  }

  /**
   * Serves the same objects over HTTP on 127.0.0.1, for other processes, kubectl and other clients. It refuses requests
   * that a foreign page in a browser can send: for another host, or with a body that is not of a type
   * `application/…`. Without a token any local user may use it.
   *
   * @param options - see {@link FakeApiListenOptions}
   * @returns the address. Rejects if the port is taken
   */
  async listen(options: FakeApiListenOptions = {}): Promise<FakeApiListener> {
    const { port = 0, token } = read("options", options, "listen", FAKE_API_LISTEN_OPTIONS);
    const send = this.transport.send;
    const front = new HttpFront({ port, token, send });
    await front.start();
    this.#fronts.add(front);
    return {
      url: front.url,
      [Symbol.asyncDispose]: async () => {
        this.#fronts.delete(front);
        await front[Symbol.asyncDispose]();
      },
    };
  }
}

function requireHistory(path: string, history: unknown): void {
  requireWord(path, history, "kept", "lost");
}
