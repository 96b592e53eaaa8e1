import type { Clock } from "@holdfast/clock";
import type { KubeClient } from "@holdfast/kubernetes";
import type { LabelSelector } from "../request/label-selector.ts";

/** A rule of a webhook: the requests it is asked about. `*` stands for all. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];

  /** `CREATE`, `UPDATE`, `DELETE`. */
  readonly operations: readonly string[];

  /** Plurals, as in `pods`; `pods/status` and `pods/*` for subresources. */
  readonly resources: readonly string[];
  readonly scope?: string | undefined;
}

/** A webhook, as an entry of `webhooks` in a configuration of Kubernetes has it. */
export interface WebhookConfiguration {
  readonly type: "mutating" | "validating";
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly failurePolicy?: string | undefined;
  readonly matchPolicy?: string | undefined;
  readonly sideEffects?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly reinvocationPolicy?: string | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly matchConditions?:
    | readonly { readonly name: string; readonly expression: string }[]
    | undefined;
}

/** The party that asks a webhook. */
export interface WebhookCaller {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;

  /** The operator that a handler sees: its client, with the rights of `rules`, and its clock. */
  readonly context?: { readonly client: KubeClient; readonly clock: Clock } | undefined;
}

/** An admission webhook: what `validating` and `mutating` make. */
export interface Webhook {
  readonly configuration: WebhookConfiguration;

  /**
   * Answers a review.
   *
   * @param request - the field `request` of an AdmissionReview
   * @returns the field `response`
   */
  readonly review: (request: never, caller: WebhookCaller) => object | PromiseLike<object>;
}
