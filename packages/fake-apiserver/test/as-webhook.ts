import type { Webhook, WebhookCaller } from "@holdfast/kubernetes";

/** A webhook of a configuration as any program may write it: what is left out has the default of a server. */
export function asWebhook(hook: {
  readonly configuration: object;
  readonly review: (request: never, caller: WebhookCaller) => unknown;
}): Webhook {
  return hook as unknown as Webhook;
}
