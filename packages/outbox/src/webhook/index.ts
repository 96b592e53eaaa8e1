/**
 * Messages to an HTTP endpoint.
 *
 * @packageDocumentation
 */

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
