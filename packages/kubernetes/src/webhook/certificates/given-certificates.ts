import { createPrivateKey, X509Certificate } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@holdfast/clock";
import { Controller, type Logger } from "@holdfast/controller";
import { callSafely } from "@holdfast/kit";
import { readText } from "@holdfast/kit/node";
import { every, type Random } from "@holdfast/wait";
import { Cluster } from "../../cluster/cluster.ts";
import type { KubeTransport } from "../../transport/kube-transport.ts";
import type { TlsPair } from "../webhook-server.ts";
import type { Certificates, Show } from "./certificates.ts";
import { runFollowing } from "./run-following.ts";
import { SECRET } from "./self-certificates.ts";

/** Milliseconds between two reads of a directory. */
const PERIOD = 10_000;

interface GivenOptions {
  readonly show: Show;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shows the pairs of others. A pair that does not fit is left, and the one before stays. */
abstract class GivenCertificates implements Certificates {
  protected readonly options: GivenOptions;
  readonly bundleWrites = 0;
  #shown: TlsPair | undefined;
  #expiry: number | undefined;

  constructor(options: GivenOptions) {
    this.options = options;
  }

  abstract run(signal: AbortSignal): Promise<void>;

  /** The authority is the business of others. */
  get isTrusted(): boolean {
    return this.#shown !== undefined;
  }

  get expiry(): number | undefined {
    return this.#expiry;
  }

  protected take(cert: string, key: string): void {
    if (cert === this.#shown?.cert && key === this.#shown.key) return;
    const { show } = this.options;
    let expiry: number;
    try {
      const read = new X509Certificate(cert);
      if (!read.checkPrivateKey(createPrivateKey(key))) throw new Error("the key does not fit");
      expiry = Date.parse(read.validTo);
      show({ cert, key });
    } catch {
      // An error of a key may show a part of it.
      this.warn({}, "tls.crt and tls.key are no pair; the certificate before stays");
      return;
    }
    this.#shown = { cert, key };
    this.#expiry = expiry;
  }

  protected warn(details: object, message: string): void {
    callSafely(() => this.options.logger.warn(details, message));
  }
}

/** Shows the certificate of a Secret that others keep, such as cert-manager. */
export class SecretCertificates extends GivenCertificates {
  readonly #parts: {
    readonly cluster: Cluster;
    readonly controller: Controller;
  };

  constructor({
    transport,
    secret,
    random,
    ...options
  }: GivenOptions & {
    readonly transport: KubeTransport;
    readonly secret: { readonly name: string; readonly namespace: string };
    readonly random: Random | undefined;
  }) {
    super(options);
    const { clock, logger } = options;
    const cluster = new Cluster({ name: "certificate caches", transport, clock, logger, random });
    const { name, namespace } = secret;
    const fields = { "metadata.name": name };
    const secrets = cluster.watch(SECRET, { namespaces: [namespace], fields });
    const controller = new Controller({
      ...{ name: "certificates", clock, logger, random },
      sources: [secrets.source()],
      reconcile: async ({ key }) => {
        const { data = {} } = secrets.get(key) ?? {};
        const text = (file: string): string =>
          Buffer.from(data[file] ?? "", "base64").toString("utf8");
        if (data["tls.crt"] !== undefined) this.take(text("tls.crt"), text("tls.key"));
      },
    });
    this.#parts = { cluster, controller };
  }

  async run(signal: AbortSignal): Promise<void> {
    await runFollowing(this.#parts, this.options, signal);
  }
}

/** Shows the certificate of a directory: `tls.crt` and `tls.key`, of one version of a mounted Secret. */
export class DirectoryCertificates extends GivenCertificates {
  readonly #directory: string;

  constructor({ directory, ...options }: GivenOptions & { readonly directory: string }) {
    super(options);
    this.#directory = directory;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    try {
      for await (const _ of every(PERIOD, { clock, signal, immediate: true })) await this.#look();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #look(): Promise<void> {
    try {
      // The kubelet replaces `..data`, so that both files below it are of one version.
      const data = await realpath(join(this.#directory, "..data")).catch(() => this.#directory);
      this.take(readText(join(data, "tls.crt")), readText(join(data, "tls.key")));
    } catch (err) {
      this.warn({ err, directory: this.#directory }, "certificate not read; the one before stays");
    }
  }
}
