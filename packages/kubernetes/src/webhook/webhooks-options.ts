import {
  type Kinds,
  kind,
  notNegative,
  read,
  requireArray,
  requireBetween,
  required,
  requireMethods,
  requireObject,
  requireOptions,
  requireText,
  requireWhole,
  text,
} from "@holdfast/kit";
import { requireSegment } from "@holdfast/kit/kubernetes";
import { type Convertible, kindOf } from "./conversion-review.ts";
import type { Webhook } from "./webhook.ts";

export const WEBHOOKS_OPTIONS: Kinds<WebhooksOptions> = {
  service: required(kind("serviceName", requireService)),
  hooks: kind("hooks", requireHooks),
  convert: kind("convertible", requireConvertible),
  certificate: kind("certificate", requireCertificate),
  clientCa: kind("pem", requirePem),
  port: kind("port", requirePort),
  host: text,
  drain: notNegative,
};

/** The certificate of the webhook server. */
export type WebhookCertificate =
  | "self"
  | {
      /** Name of a Secret with `tls.crt` and `tls.key`, in the namespace of the operator. */
      readonly secret: string;
    }
  | {
      /** Directory with `tls.crt` and `tls.key`. */
      readonly directory: string;
    };

/** Options for the webhooks of an operator. Every replica serves them. */
export interface WebhooksOptions {
  /** Name of the Service by which API servers reach the webhooks, in the namespace of the operator. */
  readonly service: string;

  /**
   * Admission webhooks, made by `validating` and `mutating`. Mutating ones are asked in this order.
   *
   * @defaultValue none
   */
  readonly hooks?: readonly Webhook[] | undefined;

  /**
   * Custom resources with versions, whose objects the operator converts.
   *
   * @defaultValue none
   */
  readonly convert?: readonly Convertible[] | undefined;

  /**
   * The certificate of the server.
   *
   * | Value | Certificate |
   * | --- | --- |
   * | `"self"` | the replicas make it, renew it, and write the authority into the configurations. Needs the packages `@peculiar/x509` and `reflect-metadata` |
   * | `{ secret }` | of a Secret, for example of cert-manager, which writes the authority too |
   * | `{ directory }` | of two files, read every 10 s |
   *
   * @defaultValue `"self"`
   */
  readonly certificate?: WebhookCertificate | undefined;

  /**
   * Authorities in PEM, one of which must have signed the certificate of a caller. API servers have one only if they were
   * configured so.
   *
   * @defaultValue none: everybody who reaches the port may ask
   */
  readonly clientCa?: string | undefined;

  /**
   * Port. Whole, 0 to 65,535; 0 takes a free one.
   *
   * @defaultValue `9443`
   */
  readonly port?: number | undefined;

  /**
   * Address to listen on.
   *
   * @defaultValue in a pod all addresses; elsewhere `"127.0.0.1"`
   */
  readonly host?: string | undefined;

  /**
   * Milliseconds at the beginning of a stop for which each answer closes its connection, and `/readyz` fails, while the
   * operator still works. At least 0. API servers use open connections as long as they last: without this time a stop loses
   * calls. `terminationGracePeriodSeconds` must be longer by it.
   *
   * @defaultValue `10_000`
   */
  readonly drain?: number | undefined;
}

/** The name of the Secret with the certificates that an operator makes. */
export function secretOf({ service }: Pick<WebhooksOptions, "service">): string {
  return `${service}-certificates`;
}

/** The name of the configurations, and of the role for them: no other namespace has the same. */
export function configurationName(place: {
  readonly service: string;
  readonly namespace: string;
}): string {
  return `${place.service}.${place.namespace}`;
}

/** Checks the name of a Service. */
export function requireService(path: string, name: string): void {
  requireText(path, name);
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    throw new RangeError(
      `${path} must be a name of a Service: at most 63 of a-z, 0-9 and -, a letter first, got ${JSON.stringify(name.slice(0, 300))}`,
    );
}

/** Reads the options, and checks them. */
export function readWebhooks(path: string, options: WebhooksOptions): WebhooksOptions {
  return read(path, options, "runOperator", WEBHOOKS_OPTIONS);
}

function requireHooks(path: string, hooks: readonly Webhook[]): void {
  requireArray(path, hooks);
  const names = new Map<string, number>();
  for (const [index, hook] of hooks.entries()) {
    requireMethods(`${path}[${index}]`, hook, ["review"]);
    requireObject(`${path}[${index}].configuration`, hook.configuration);
    const { name } = hook.configuration;
    const other = names.get(name);
    if (other !== undefined)
      throw new RangeError(
        `${path}[${index}] must have another name than ${path}[${other}], got ${JSON.stringify(name)} twice: set its option name`,
      );
    names.set(name, index);
  }
}

function requireConvertible(path: string, resources: readonly Convertible[]): void {
  requireArray(path, resources);
  const kinds = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    requireMethods(`${path}[${index}]`, resource, ["convert"]);
    requireObject(`${path}[${index}].crd`, resource.crd);
    if (kinds.has(kindOf(resource)))
      throw new RangeError(
        `${path}[${index}] must be another resource, got ${kindOf(resource)} twice`,
      );
    kinds.add(kindOf(resource));
  }
}

function requireCertificate(path: string, certificate: WebhookCertificate): void {
  if (certificate === "self") return;
  const shape = '"self", { secret } or { directory }';
  if (typeof certificate !== "object" || certificate === null)
    throw new TypeError(`${path} must be ${shape}, got ${typeof certificate}`);
  requireOptions(path, certificate);
  const names = Object.keys(certificate);
  if (names.length !== 1 || !["secret", "directory"].includes(names[0] as string))
    throw new RangeError(
      `${path} must be ${shape}, got an object with ${names.join(", ") || "nothing"}`,
    );
  if ("secret" in certificate) requireSegment(`${path}.secret`, certificate.secret);
  else requireText(`${path}.directory`, certificate.directory);
}

function requirePem(path: string, pem: string): void {
  if (typeof pem !== "string") throw new TypeError(`${path} must be PEM text, got ${typeof pem}`);
  if (!pem.includes("-----BEGIN "))
    throw new RangeError(`${path} must be PEM text with "-----BEGIN …", got none`);
}

function requirePort(path: string, port: number): void {
  requireBetween(path, requireWhole(path, port, 0), 0, 65_535);
}
