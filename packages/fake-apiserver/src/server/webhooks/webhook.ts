import type { Clock } from "@holdfast/clock";
import type { KubeClient } from "@holdfast/kubernetes";
import type { LabelSelector } from "../request/label-selector.ts";

/** A rule of a webhook: the requests it is asked about. `*` stands for all. */
export interface WebhookRule {
  /** Groups. Empty text for the core group. */
  readonly apiGroups: readonly string[];

  /** Versions within the groups. */
  readonly apiVersions: readonly string[];

  /** `CREATE`, `UPDATE`, `DELETE`. */
  readonly operations: readonly string[];

  /** Plurals, as in `pods`; `pods/status` and `pods/*` for subresources. */
  readonly resources: readonly string[];

  /** `Namespaced`, `Cluster`, or `*` for both. Default: both. */
  readonly scope?: string | undefined;
}

/** A webhook, as an entry of `webhooks` in a configuration of Kubernetes has it. */
export interface WebhookConfiguration {
  /** Kind of configuration that the entry belongs to. */
  readonly type: "mutating" | "validating";

  /** Name in messages. */
  readonly name: string;

  /** One that covers a request is enough. */
  readonly rules: readonly WebhookRule[];

  /** `Fail`, or `Ignore` to go on without an answer. Default: `Fail`. */
  readonly failurePolicy?: string | undefined;

  /** `Exact`, or `Equivalent` for objects of other versions too. Default: `Equivalent`. */
  readonly matchPolicy?: string | undefined;

  /** Dry runs are refused if it is neither `None` nor `NoneOnDryRun`. Default: `None`. */
  readonly sideEffects?: string | undefined;

  /** Seconds that an answer may take. Default: 10. */
  readonly timeoutSeconds?: number | undefined;

  /** `IfNeeded` to be asked again after a later change. Default: `Never`. */
  readonly reinvocationPolicy?: string | undefined;

  /** Default: every namespace. */
  readonly namespaceSelector?: LabelSelector | undefined;

  /** Selects the new object or the old one. Default: every object. */
  readonly objectSelector?: LabelSelector | undefined;

  /** Expressions of CEL that must be true. Default: none. */
  readonly matchConditions?: readonly MatchCondition[] | undefined;
}

/** A condition of a webhook. */
export interface MatchCondition {
  /** Name of the condition. */
  readonly name: string;

  /** Expression of CEL over `object`, `oldObject` and `request`. */
  readonly expression: string;
}

/** The operator that a handler sees. */
export interface WebhookOperator {
  /** Client with the rights of `rules`. */
  readonly client: KubeClient;

  /** Clock of the server. */
  readonly clock: Clock;
}

/** The party that asks a webhook. */
export interface WebhookCaller {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;

  /** The same for all calls. */
  readonly context?: WebhookOperator | undefined;
}

/** An admission webhook: what `validating` and `mutating` make. */
export interface Webhook {
  /** Decides which requests it is asked about. */
  readonly configuration: WebhookConfiguration;

  /**
   * Answers a review.
   *
   * @param request - the field `request` of an AdmissionReview
   * @returns the field `response`
   */
  readonly review: (request: never, caller: WebhookCaller) => object | PromiseLike<object>;
}
