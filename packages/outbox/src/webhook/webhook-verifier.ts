import { timingSafeEqual } from "node:crypto";
import { types } from "node:util";
import { type PassiveClock, realClock } from "@holdfast/clock";
import {
  type Kinds,
  methods,
  notNegative,
  parsed,
  read,
  required,
  requireObject,
} from "@holdfast/kit";
import {
  keysOf,
  SIGNED,
  type SignedContent,
  signatureOf,
  type WebhookSecrets,
} from "./signature.ts";
import { UnverifiedError } from "./unverified-error.ts";

export const WEBHOOK_VERIFIER_OPTIONS: Kinds<WebhookVerifierOptions> = {
  secrets: required(parsed("secrets")),
  tolerance: notNegative,
  clock: methods("now"),
};

/** Options for {@link WebhookVerifier}. */
export interface WebhookVerifierOptions {
  /** The secret that the sender signs with: `whsec_` and base64 of 24 to 64 bytes. Several while one replaces another. */
  readonly secrets: WebhookSecrets;

  /**
   * The greatest difference in milliseconds between the sender's clock when it signed and the clock here, in either
   * direction. At least 0; counted in whole seconds. `Infinity` takes a webhook of any age, as for a replay of a recording.
   *
   * @defaultValue 300,000, five minutes
   */
  readonly tolerance?: number | undefined;

  /**
   * Reads the time that the time of a signature is compared with.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;
}

/** Headers of a request: those of `node:http`, or of `fetch`. Names in upper or lower case. */
export type ReceivedHeaders =
  | Iterable<readonly [name: string, value: string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook whose signature is right. */
export interface VerifiedWebhook {
  /** The id of the message, the same in each attempt: recognize a duplicate by it. */
  readonly id: string;

  /** The instant of the signature, in milliseconds since the epoch. */
  readonly timestamp: number;
}

/**
 * Verifies the webhooks of a {@link WebhookPublisher} with `secrets`, and of every other sender of Standard Webhooks.
 *
 * Give it the bytes of the body as they came, before anything parses them; the body may be empty, and need not be JSON.
 * Signatures are compared in constant time. A webhook that is verified twice is verified twice: remember its `id`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { WebhookVerifier } from "@holdfast/outbox/webhook";
 *
 * const clock = new FakeClock({ now: Date.UTC(2026, 10, 21) });
 * const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
 * const verifier = new WebhookVerifier({ secrets, clock });
 * const headers = {
 *   "webhook-id": "4711",
 *   "webhook-timestamp": "1795219200",
 *   "webhook-signature": "v1,8k8mUff9KP4i5tuVLlarhmG/+1W1bLwmQGGX7fojjI0=",
 * };
 * console.log(verifier.verify('{"order":4711}', headers).id); // => 4711
 * ```
 */
export class WebhookVerifier {
  readonly #keys: readonly Uint8Array[];
  readonly #tolerance: number;
  readonly #clock: PassiveClock;

  /** @throws RangeError or TypeError that names the option, and repeats no part of a secret */
  constructor(options: WebhookVerifierOptions) {
    const given = read("options", options, "WebhookVerifier", WEBHOOK_VERIFIER_OPTIONS);
    const { secrets, tolerance = 300_000, clock = realClock } = given;
    this.#keys = keysOf("options.secrets", secrets);
    this.#tolerance = tolerance;
    this.#clock = clock;
  }

  /**
   * Verifies a webhook.
   *
   * @param body - its bytes, or their text, as they came
   * @param headers - of the request
   * @throws UnverifiedError for a webhook to refuse, with status 401 for example
   * @throws TypeError for a body that is neither bytes nor a text
   */
  verify(body: string | Uint8Array, headers: ReceivedHeaders): VerifiedWebhook {
    if (typeof body !== "string" && !types.isUint8Array(body))
      throw new TypeError(
        "body must be a Uint8Array or a string: the body as it came, before it is parsed",
      );
    const header = readerOf(headers);
    const signatures = header(SIGNED.signature).split(" ");
    const content = { id: header(SIGNED.id), timestamp: header(SIGNED.timestamp), body };
    // With a dot, the end of an id could be taken for the time, and the time for a part of the body.
    if (content.id.includes("."))
      throw new UnverifiedError("headers", `${SIGNED.id} must not contain a dot`);
    const timestamp = this.#timestampOf(content);
    const expected = this.#keys.map((key) => signatureOf(content, key));
    if (!signatures.some((signature) => isOneOf(expected, signature)))
      throw new UnverifiedError(
        "signature",
        `none of its signatures fits the body and a secret of ${this.#keys.length}; compare the secrets of both sides, and pass the body as it came`,
      );
    return { id: content.id, timestamp };
  }

  #timestampOf({ timestamp }: SignedContent): number {
    if (!/^\d{1,12}$/.test(timestamp))
      throw new UnverifiedError("headers", `${SIGNED.timestamp} must be seconds since 1970`);
    const age = Math.floor(this.#clock.now() / 1_000) - Number(timestamp);
    if (Math.abs(age) * 1_000 > this.#tolerance)
      throw new UnverifiedError(
        "time",
        `it was signed ${Math.abs(age)} s ${age > 0 ? "ago" : "in the future"}, and options.tolerance is ${this.#tolerance / 1_000} s; set the clocks of both machines, and sign each attempt anew`,
      );
    return Number(timestamp) * 1_000;
  }
}

/** Of what the sender writes, only whole names of headers reach an error. */
function readerOf(headers: ReceivedHeaders): (name: string) => string {
  requireObject("headers", headers);
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return (name) => {
    const [value, ...others] = entries
      .filter(([own]) => own.toLowerCase() === name)
      .flatMap(([, own]) => own ?? []);
    if (typeof value !== "string" || value === "")
      throw new UnverifiedError(
        "headers",
        `it has no header ${name}; let the sender sign it as Standard Webhooks has it, and proxies pass the header on`,
      );
    if (others.length > 0) throw new UnverifiedError("headers", `it has several headers ${name}`);
    return value;
  };
}

function isOneOf(expected: readonly Uint8Array[], signature: string): boolean {
  if (!signature.startsWith("v1,")) return false; // of another scheme, beside ours
  const given = Buffer.from(signature.slice("v1,".length), "base64");
  return expected.some((own) => own.length === given.length && timingSafeEqual(own, given));
}
