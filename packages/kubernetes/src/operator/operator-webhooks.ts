import { aborted, LinkedController } from "@holdfast/clock";
import type { Runnable } from "@holdfast/controller";
import type { Certificates, Show } from "../webhook/certificates/certificates.ts";
import {
  DirectoryCertificates,
  SecretCertificates,
} from "../webhook/certificates/given-certificates.ts";
import { SelfCertificates } from "../webhook/certificates/self-certificates.ts";
import { trustTargets } from "../webhook/certificates/trust-targets.ts";
import { prepare } from "../webhook/hooks.ts";
import type { WebhookContext } from "../webhook/webhook.ts";
import type { WebhookMetrics, WebhookStatus } from "../webhook/webhook-metrics.ts";
import { WebhookServer } from "../webhook/webhook-server.ts";
import { configurationName, secretOf } from "../webhook/webhooks-options.ts";
import type { ResolvedOperator, ResolvedWebhooks } from "./operator-options.ts";

/** The webhooks of an operator: a server, and its certificate. */
export class OperatorWebhooks {
  readonly #server: WebhookServer;
  readonly #certificates: Certificates;
  #drain: (() => Promise<void>) | undefined;

  constructor(operator: ResolvedOperator, options: ResolvedWebhooks, context: WebhookContext) {
    const { clock, logger, metrics } = operator;
    for (const hook of options.hooks) prepare(hook, context);
    const receiver: WebhookMetrics | undefined = metrics?.webhooks?.(() => this.#status());
    this.#server = new WebhookServer({ ...options, context, logger, clock, metrics: receiver });
    this.#certificates = certificatesOf(operator, options, (pair) => this.#server.show(pair));
  }

  /** Whether the server may be sent calls: no informer counts, or an operator that converts its own kind never starts. */
  get isReady(): boolean {
    return this.#server.isOpen && this.#certificates.isTrusted;
  }

  /** Time to stop, in milliseconds. */
  get stopTimeout(): number {
    return this.#server.stopTimeout;
  }

  /** Serves. Ready when the server listens with its first certificate. */
  get serving(): Runnable {
    return {
      name: "webhooks",
      stopTimeout: this.stopTimeout,
      run: (signal) => this.#run(signal),
      ready: () => this.#server.ready(),
    };
  }

  /** Ends the server before everything else stops. */
  get draining(): Runnable {
    return {
      name: "drain of webhooks",
      stopTimeout: this.stopTimeout,
      run: async (signal) => {
        await aborted(signal);
        await this.#drain?.();
      },
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    using stop = new LinkedController(signal);
    const keep = new AbortController();
    const served = this.#server.run(stop.signal);
    const kept = this.#certificates.run(keep.signal);
    this.#drain = async () => {
      stop.abort(new DOMException("webhooks drain", "AbortError"));
      await served.catch(() => {});
    };
    try {
      await Promise.race([served, kept]);
    } finally {
      stop.abort(signal.reason);
      keep.abort(signal.reason);
      await Promise.allSettled([served, kept]);
    }
  }

  #status(): WebhookStatus {
    const { expiry, bundleWrites } = this.#certificates;
    return { inFlight: this.#server.inFlight, certificateExpiry: expiry, bundleWrites };
  }
}

function certificatesOf(
  { transport, name, clock, random, logger }: ResolvedOperator,
  { certificate, namespace, service, hooks, convert }: ResolvedWebhooks,
  show: Show,
): Certificates {
  const common = { show, clock, logger };
  if (certificate === "self")
    return new SelfCertificates({
      ...{ ...common, transport, random, operator: name },
      secret: { namespace, name: secretOf({ service }) },
      names: [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`],
      targets: trustTargets({
        name: configurationName({ service, namespace }),
        types: hooks.map(({ configuration }) => configuration.type),
        definitions: convert.map(({ crd }) => nameOf(crd)),
      }),
    });
  if ("directory" in certificate)
    return new DirectoryCertificates({ ...common, directory: certificate.directory });
  const secret = { namespace, name: certificate.secret };
  return new SecretCertificates({ ...common, transport, random, secret });
}

function nameOf(crd: object | undefined): string {
  const { metadata } = (crd ?? {}) as { metadata?: { name?: unknown } };
  return String(metadata?.name);
}
