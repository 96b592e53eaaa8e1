/** A call of a webhook, when it has been answered. */
export interface WebhookCallMetric {
  /** Path of the webhook, for example `/validate.crontasks.example.org`, or `/convert`. */
  readonly webhook: string;

  /** HTTP status of the answer. */
  readonly code: string;

  /** Milliseconds from the head of the request to the answer. */
  readonly duration: number;
}

/** Objects of one review that were converted, or were not. */
export interface ConversionMetric {
  /** Version that was asked for, with its group. */
  readonly version: string;

  /** Result of the review. */
  readonly result: "success" | "failure";

  /** Number of objects in the review. */
  readonly objects: number;
}

/** State of the webhooks of an operator, read when the metrics are. */
export interface WebhookStatus {
  /** Calls in flight, by path. */
  readonly inFlight: Readonly<Record<string, number>>;

  /** End of the certificate that is shown, an instant of the wall clock in milliseconds. Undefined before the first. */
  readonly certificateExpiry: number | undefined;

  /** Configurations whose `caBundle` was written by this process. */
  readonly bundleWrites: number;
}

/** Receiver of the facts that webhooks measure. A method must not block; its errors are logged. */
export interface WebhookMetrics {
  /** A call has been answered. */
  answered(call: WebhookCallMetric): void;

  /** A review of conversions has been answered. */
  converted(conversion: ConversionMetric): void;
}
