// The webhooks of a script on a real API server: an HTTPS server, and their configurations.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyText, type SeenReview, type Send } from "./run-script.ts";
import type { ScriptWebhook } from "./script.ts";
import { convertTask } from "./tasks.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";
const PROBED = "/api/v1/namespaces/default/serviceaccounts";
const TYPES = ["mutating", "validating"] as const;

/** A port at which nothing listens. */
const NOWHERE = 1;

/** A certificate for 127.0.0.1, and its key, PEM. */
function certificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=webhooks";
  const host = ["-addext", "subjectAltName=IP:127.0.0.1"];
  try {
    execFileSync("openssl", [...kind.split(" "), ...host, "-keyout", key, "-out", cert], {
      stdio: "ignore",
    });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Serves the webhooks of one script after the other. */
export class HookServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #cert: string;
  #hooks: readonly { readonly hook: ScriptWebhook; left: number }[] = [];
  #reviews: SeenReview[] = [];
  #scripts = 0;

  private constructor(server: Server, cert: string) {
    this.#server = server;
    this.#cert = cert;
    server.on("request", (incoming, outgoing) => void this.#serve(incoming, outgoing));
  }

  static async start(): Promise<HookServer> {
    const { key, cert } = certificate();
    const server = createServer({ key, cert, keepAliveTimeout: 120_000 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HookServer(server, cert);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Takes the reviews since the last call. */
  readonly takeReviews = (): SeenReview[] => this.#reviews.splice(0);

  /** Configures the webhooks of a script, and waits until the API server asks them. */
  async use(
    send: Send,
    hooks: readonly ScriptWebhook[],
    signal: AbortSignal,
  ): Promise<AsyncDisposable> {
    this.#scripts += 1;
    const names = [`script-${this.#scripts}`, `script-${this.#scripts}-probe`];
    this.#hooks = hooks.map((hook) => ({ hook, left: hook.times ?? Number.POSITIVE_INFINITY }));
    for (const type of TYPES) {
      const webhooks = hooks
        .filter(({ configuration }) => configuration.type === type)
        .map((hook) => this.#entryOf(hook));
      await create(send, type, { name: names[0] as string, webhooks }, signal);
      const webhook = this.#probe(type);
      await create(send, type, { name: names[1] as string, webhooks: [webhook] }, signal);
    }
    for (const type of TYPES) await this.#untilAsked(send, type, signal);
    this.#reviews = [];
    return {
      [Symbol.asyncDispose]: async () => {
        for (const type of TYPES)
          for (const name of names)
            await call(send, "DELETE", `${pathOf(type)}/${name}`, undefined, signal);
      },
    };
  }

  /** Defines the resource with versions, which this server converts. */
  async define(send: Send, crd: object, signal: AbortSignal): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    const caBundle = Buffer.from(this.#cert).toString("base64");
    const clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle };
    const webhook = { clientConfig, conversionReviewVersions: ["v1"] };
    const { spec } = crd as { readonly spec: object };
    const body = { ...crd, spec: { ...spec, conversion: { strategy: "Webhook", webhook } } };
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const { status, text } = await call(send, "POST", path, body, signal);
    if (status !== 201) throw new Error(text);
    for (const version of ["v1", "v2"])
      while ((await call(send, "GET", tasksPath(version), undefined, signal)).status !== 200)
        await sleep(20, undefined, { signal });
  }

  #entryOf({ configuration, fault }: ScriptWebhook): object {
    const { type: _, ...entry } = configuration;
    const { port } = this.#server.address() as AddressInfo;
    const url = `https://127.0.0.1:${fault?.type === "down" ? NOWHERE : port}/${entry.name}`;
    const caBundle = Buffer.from(this.#cert).toString("base64");
    const rest = { sideEffects: "None", admissionReviewVersions: ["v1"] };
    return { ...rest, ...entry, clientConfig: { url, caBundle } };
  }

  /** A webhook that refuses an object of a name that only this script has. */
  #probe(type: string): object {
    const rules = [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["CREATE"],
        resources: ["serviceaccounts"],
      },
    ];
    const expression = `object.metadata.name == 'probe-${type}-${this.#scripts}'`;
    const configuration = { type: type as "mutating", name: "probe.example.org", rules };
    const conditions = { matchConditions: [{ name: "probe", expression }] };
    return this.#entryOf({
      configuration: { ...configuration, ...conditions },
      answer: () => ({}),
    });
  }

  async #untilAsked(send: Send, type: string, signal: AbortSignal): Promise<void> {
    const name = `probe-${type}-${this.#scripts}`;
    const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } };
    for (;;) {
      const { status } = await call(send, "POST", `${PROBED}?dryRun=All`, body, signal);
      if (status === 400) return;
      await sleep(20, undefined, { signal });
    }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { request } = JSON.parse(await bodyText({ status: 0, headers: {}, body: incoming })) as {
      request: Record<string, unknown>;
    };
    outgoing.setHeader("content-type", "application/json");
    if (incoming.url?.startsWith("/convert") === true) {
      const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
      outgoing.end(JSON.stringify({ ...kind, response: conversionOf(request) }));
      return;
    }
    const name = (incoming.url as string).replace(/^\/|\?.*$/g, "");
    const entry = this.#hooks.find(({ hook }) => hook.configuration.name === name);
    const { fault } = entry?.hook ?? {};
    if (entry !== undefined) this.#reviews.push({ hook: name, request });
    if (entry !== undefined && fault !== undefined && entry.left-- > 0) {
      if (fault.type === "slow") return;
      const { status, retryAfter } = fault as { status: number; retryAfter?: number };
      outgoing.writeHead(
        status,
        retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
      );
      outgoing.end();
      return;
    }
    const answer = entry?.hook.answer(request) ?? { allowed: false };
    const kind = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
    outgoing.end(JSON.stringify({ ...kind, response: { uid: request["uid"], ...answer } }));
  }
}

function tasksPath(version: string): string {
  return `/apis/converted.example.org/${version}/tasks`;
}

function conversionOf(request: Readonly<Record<string, unknown>>): object {
  const { uid, desiredAPIVersion, objects } = request as {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly Record<string, unknown>[];
  };
  try {
    const version = desiredAPIVersion.split("/")[1] as string;
    const convertedObjects = objects.map((object) => convertTask(object, version));
    return { uid, convertedObjects, result: { status: "Success" } };
  } catch (error) {
    return { uid, result: { status: "Failure", message: (error as Error).message } };
  }
}

function pathOf(type: string): string {
  return `${CONFIGURATIONS}/${type}webhookconfigurations`;
}

async function create(
  send: Send,
  type: (typeof TYPES)[number],
  { name, webhooks }: { readonly name: string; readonly webhooks: readonly object[] },
  signal: AbortSignal,
): Promise<void> {
  const kind =
    type === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  const apiVersion = "admissionregistration.k8s.io/v1";
  const body = { apiVersion, kind, metadata: { name }, webhooks };
  const { status, text } = await call(send, "POST", pathOf(type), body, signal);
  if (status !== 201) throw new Error(text);
}

async function call(
  send: Send,
  method: string,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const text = body && JSON.stringify(body);
  const response = await send({ method, path, headers, body: text }, signal);
  return { status: response.status, text: await bodyText(response) };
}
