import { createHmac } from "node:crypto";
import { requireArray, requireString } from "@holdfast/kit";

/** What stands before the base64 of a secret. */
const PREFIX = "whsec_";

/** The length of a secret in bytes, as Standard Webhooks has it. */
const LENGTH = { least: 24, most: 64 };

/** A secret of Standard Webhooks, `whsec_` and base64 of 24 to 64 bytes, or several while one replaces another. */
export type WebhookSecrets = string | readonly string[];

/** The headers of a signed webhook. */
export const SIGNED = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
} as const;

/** The part of a webhook that its signature covers. */
export interface SignedContent {
  readonly id: string;
  /** In whole seconds since 1970, as its header has it. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/**
 * The keys of secrets.
 *
 * @throws RangeError or TypeError that names the place and never the secret
 */
export function keysOf(option: string, secrets: WebhookSecrets): readonly Uint8Array[] {
  if (typeof secrets === "string") return [keyOf(option, secrets)];
  requireArray(option, secrets);
  if (secrets.length === 0) throw new RangeError(`${option} must hold at least one secret`);
  return secrets.map((secret, index) => keyOf(`${option}[${index}]`, secret));
}

/** The signature of a webhook, without its version. */
export function signatureOf({ id, timestamp, body }: SignedContent, key: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The headers of a webhook with a signature by each key. */
export function signedHeaders(
  { id, body }: Pick<SignedContent, "id" | "body">,
  keys: readonly Uint8Array[],
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = keys.map((key) => signatureOf({ id, timestamp, body }, key));
  return {
    [SIGNED.id]: id,
    [SIGNED.timestamp]: timestamp,
    [SIGNED.signature]: signatures
      .map((own) => `v1,${Buffer.from(own).toString("base64")}`)
      .join(" "),
  };
}

function keyOf(place: string, secret: string): Buffer {
  requireString(place, secret);
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, "base64");
  const { least, most } = LENGTH;
  const isOne = secret.startsWith(PREFIX) && key.toString("base64") === text;
  if (!isOne || key.length < least || key.length > most)
    throw new RangeError(
      `${place} must be "${PREFIX}" and the base64 of ${least} to ${most} random bytes`,
    );
  return key;
}
