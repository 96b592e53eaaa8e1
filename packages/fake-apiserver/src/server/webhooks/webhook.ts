export type {
  Webhook,
  WebhookCaller,
  WebhookConfiguration,
  WebhookContext,
  WebhookRule,
} from "@holdfast/kubernetes";
