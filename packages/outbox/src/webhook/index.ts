/**
 * Messages to an HTTP endpoint, signed as Standard Webhooks has it, and their verification there.
 *
 * @packageDocumentation
 */

export type { WebhookSecrets } from "./signature.ts";
export {
  isUnverifiedError,
  UnverifiedError,
  type UnverifiedReason,
} from "./unverified-error.ts";
export {
  isWebhookError,
  WebhookError,
  type WebhookErrorOptions,
} from "./webhook-error.ts";
export {
  WebhookPublisher,
  type WebhookPublisherOptions,
  type WebhookRequest,
} from "./webhook-publisher.ts";
export {
  type ReceivedHeaders,
  type VerifiedWebhook,
  WebhookVerifier,
  type WebhookVerifierOptions,
} from "./webhook-verifier.ts";
