// The form of a request script: plain data, so that the same script runs on a real API server and on a fake server.

/** A sequence of requests in a namespace of its own. */
export interface Script {
  /** A plain assertion about the server, unique among all scripts. */
  readonly name: string;

  /** Steps, one after another. */
  readonly steps: readonly Step[];

  /** Whether `metadata.managedFields` is compared. Without it the fields are left out of the recording. */
  readonly managers?: boolean;

  /** Whether messages of a `Status` and of its causes are compared. Without it they are left out of the recording. */
  readonly messages?: boolean;

  /** Rules of a role for the caller `"bound"`. Such a script runs on a server whose roles decide. */
  readonly rules?: readonly ScriptRules[];

  /** Webhooks that the server asks while the script runs. Each answer then has the reviews that they got. */
  readonly webhooks?: readonly ScriptWebhook[];

  /** Parts that are not compared. */
  readonly uncompared?: readonly Uncompared[];
}

/** A webhook of a script. */
export interface ScriptWebhook {
  /** An entry of a configuration, as a manifest has it, without its defaults. */
  readonly configuration: {
    readonly type: "mutating" | "validating";
    readonly name: string;
    readonly rules: readonly {
      readonly apiGroups: readonly string[];
      readonly apiVersions: readonly string[];
      readonly operations: readonly string[];
      readonly resources: readonly string[];
    }[];
    readonly [name: string]: unknown;
  };

  /** Makes the response of a review, without its uid. */
  readonly answer: (request: Readonly<Record<string, unknown>>) => object;

  /** What happens instead of an answer. */
  readonly fault?:
    | { readonly type: "down" | "slow" }
    | { readonly type: "status"; readonly status: number; readonly retryAfter?: number };

  /** Number of calls that meet the fault. Default: all. */
  readonly times?: number;
}

/** A part of the answers that is not compared, and the reason. */
export interface Uncompared {
  /**
   * Path of the part in the normal form, from the index of the step on, joined by dots: `2.body.spec`. `*` stands
   * for any one name or index. Everything below the path is left out too.
   */
  readonly path: string;

  /** The reason. */
  readonly reason: string;

  /** `"fake"`: the part is left out for the fake server alone. Default: for the real server too. */
  readonly on?: "fake";
}

/** One rule of a role, as a manifest has it. */
export interface ScriptRules {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One step of a script. */
export type Step = RequestStep | ReadStep | ForgetStep;

/**
 * A caller: an administrator, a user who may only read, a user with a token that the server does not know, a user with
 * the rules of the script in its namespace alone or in the whole cluster.
 */
export type Caller = "admin" | "viewer" | "stranger" | "bound" | "cluster-bound";

/**
 * A request. Every string in `path`, `query` and `body` may refer to an earlier answer: `$(first.metadata.uid)` is
 * a field in the body of the step with the id `first`, `$(first.events.0.object.metadata.uid)` one in its events.
 * `$(namespace)` is the namespace of the script.
 */
export interface RequestStep {
  /** Name by which later steps refer to the answer. */
  readonly id?: string;

  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "TRACE";

  /** Path without its query. */
  readonly path: string;

  /** Parameters of the query, not encoded. */
  readonly query?: Readonly<Record<string, string>>;

  /** Media type of the body. Default: `application/json`. */
  readonly contentType?: string;

  /** Media type that is asked for. Default: `application/json`. */
  readonly accept?: string;

  /** Body, sent as JSON. A string is sent as it is. */
  readonly body?: unknown;

  /** Default: `"admin"`. */
  readonly as?: Caller;

  /** Makes the request a watch: `watch=true` is added to the query, and the answer is a stream of events. */
  readonly watch?: WatchReading;
}

/** How much of a watch is read. */
export interface WatchReading {
  /** Number of events to read, after which the script goes on. `"end"`: until the server closes the stream. */
  readonly take: number | "end";

  /** Whether the stream stays open for later {@link ReadStep}s. It needs an id then. */
  readonly hold?: boolean;

  /** Whether bookmarks count and are recorded. Default: they are skipped. */
  readonly bookmarks?: boolean;
}

/** Reads on from a watch that an earlier step left open. */
interface ReadStep {
  /** Id of the step that opened the watch. */
  readonly read: string;

  /** See {@link WatchReading.take}. */
  readonly take: number | "end";
}

/** Makes the server forget its history: all versions up to now are compacted, also in its watch cache. */
interface ForgetStep {
  readonly server: "forget";
}

/** The answer to one step, as it came. A step that is not a request and reads nothing has an empty one. */
export interface Answer {
  readonly status?: number;

  /** Media type without parameters. */
  readonly type?: string;

  /** Texts of the `warning` headers. */
  readonly warnings?: readonly string[];

  /** Body: JSON where the media type says so, text elsewhere. */
  readonly body?: unknown;

  /** Events of a watch. */
  readonly events?: readonly unknown[];

  /** The reviews that webhooks got, by name. */
  readonly reviews?: readonly unknown[];

  /** Whether the server closed the watch before the script had read enough. */
  readonly ended?: boolean;
}

/** Whether a script needs a server that forgets its history on demand. */
export function needsForgetting(script: Script): boolean {
  return script.steps.some((step) => "server" in step);
}

/** Whether one of the marks names a path in the normal form. */
export function isUncompared(path: readonly string[], marks: readonly Uncompared[]): boolean {
  return marks.some((mark) => {
    const pattern = mark.path.split(".");
    return (
      pattern.length === path.length &&
      pattern.every((name, index) => name === "*" || name === path[index])
    );
  });
}

/** The callers of a script. */
export function callersOf(script: Script): Set<Caller> {
  return new Set(script.steps.flatMap((step) => ("method" in step ? [step.as ?? "admin"] : [])));
}

/** The namespace of a script: a name that is made from its own. */
export function namespaceOf(script: Script): string {
  const words = script.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `s-${words}`.slice(0, 60).replace(/-+$/, "");
}
