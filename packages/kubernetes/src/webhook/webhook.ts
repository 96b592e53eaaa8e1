import type { Clock } from "@holdfast/clock";
import type { Logger } from "@holdfast/controller";
import type { KubeClient } from "../client/kube-client.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** Operations that a webhook may be asked about. */
export type WebhookOperation = "CREATE" | "UPDATE" | "DELETE";

/** A rule of a {@link WebhookConfiguration}: the requests that the API server asks about. */
export interface WebhookRule {
  /** API groups. Empty text for the core group, `*` for all. */
  readonly apiGroups: readonly string[];

  /** Versions within the groups, `*` for all. */
  readonly apiVersions: readonly string[];

  /** Operations. */
  readonly operations: readonly WebhookOperation[];

  /** Plurals, with their subresources: `pods`, `pods/status`. */
  readonly resources: readonly string[];

  /** Scope of the resources. */
  readonly scope: "Namespaced" | "Cluster" | "*";
}

/** A selector of labels, as the objects of Kubernetes have it. */
export interface WebhookSelector {
  /** All of these must hold. */
  readonly matchExpressions: readonly {
    /** Label. */
    readonly key: string;

    /** Relation of the label to the values. */
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";

    /** Values, for `In` and `NotIn`. */
    readonly values?: readonly string[];
  }[];
}

/** An entry of `webhooks` in a configuration of Kubernetes: all but its address, and with its type. */
export interface WebhookConfiguration {
  /** Kind of configuration that the entry belongs to. */
  readonly type: "validating" | "mutating";

  /** Name: a domain of at least three parts. */
  readonly name: string;

  /** Requests that the API server asks about. */
  readonly rules: readonly WebhookRule[];

  /** Whether a webhook without an answer refuses a request. */
  readonly failurePolicy: "Fail" | "Ignore";

  /** Objects of other versions are converted to the version of the rule. */
  readonly matchPolicy: "Equivalent";

  /** Whether calls of a dry run have effects elsewhere. */
  readonly sideEffects: "None" | "NoneOnDryRun";

  /** Seconds that an answer may take. */
  readonly timeoutSeconds: number;

  /** Whether to ask again when a later webhook has changed the object. Mutating webhooks alone have it. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";

  /** Selects namespaces by their labels. */
  readonly namespaceSelector?: WebhookSelector;

  /** Selects objects by their labels: the new one or the old one. */
  readonly objectSelector?: WebhookSelector;

  /** Expressions of CEL. The API server asks if all are true. */
  readonly matchConditions?: readonly {
    /** Name of the condition. */
    readonly name: string;

    /** Expression over `object`, `oldObject` and `request`. */
    readonly expression: string;
  }[];
}

/** The field `request` of an AdmissionReview of `admission.k8s.io/v1`. */
export interface AdmissionRequest {
  /** Identifies the review. */
  readonly uid: string;

  /** Operation on the object. */
  readonly operation: string;

  /** Name of the object. Missing for a new one with `generateName`, and in a deletion of a collection. */
  readonly name?: string | undefined;

  /** Namespace of the object. */
  readonly namespace?: string | undefined;

  /** Subresource that is written. */
  readonly subResource?: string | undefined;

  /** The object as it would be stored. Null for a deletion. */
  readonly object?: unknown;

  /** The object before. Null for a new one. */
  readonly oldObject?: unknown;

  /** Whether nothing will be stored. */
  readonly dryRun?: boolean | undefined;

  /** The user who asks. */
  readonly userInfo?: WebhookUser | undefined;
}

/** The user of a request. */
export interface WebhookUser {
  /** Name. */
  readonly username?: string | undefined;

  /** UID. */
  readonly uid?: string | undefined;

  /** Groups. */
  readonly groups?: readonly string[] | undefined;

  /** Further facts of the authenticator. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The field `response` of an AdmissionReview. */
export interface AdmissionResponse {
  /** UID of the request. */
  readonly uid: string;

  /** Whether the request may go on. */
  readonly allowed: boolean;

  /** Reason of a refusal. */
  readonly status?: object;

  /** Texts that the client shows to its user. */
  readonly warnings?: readonly string[];

  /** `JSONPatch`, beside a patch. */
  readonly patchType?: "JSONPatch";

  /** JSON patch in base64. */
  readonly patch?: string;
}

/** The part of an operator that webhooks see. */
export interface WebhookContext {
  /** Client of the cluster. */
  readonly client: KubeClient;

  /** Declares informers, in `setup`. */
  readonly cluster: Cluster;

  /** Clock of the operator. */
  readonly clock: Clock;

  /** Receiver of log lines. */
  readonly logger: Logger;
}

/** The party that asks a webhook. */
export interface WebhookCaller {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;

  /** Second argument of `handle`, and argument of `setup`, which is called once for each such object. */
  readonly context?: Partial<WebhookContext> | undefined;
}

/** An admission webhook as a value, made by `validating` and `mutating`. Manifests, servers and doubles read the same one. */
export interface Webhook {
  /** The entry in a configuration of Kubernetes. */
  readonly configuration: WebhookConfiguration;

  /**
   * Answers a review. An error of the handler is an answer, too: 500 without its text.
   *
   * @param request - the field `request` of an AdmissionReview
   * @param caller - see {@link WebhookCaller}
   * @returns the field `response`. Rejects with a TypeError for a request that is none
   */
  review(request: AdmissionRequest, caller: WebhookCaller): Promise<AdmissionResponse>;
}
