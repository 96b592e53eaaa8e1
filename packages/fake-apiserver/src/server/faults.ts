import {
  anything,
  func,
  type Kinds,
  kind,
  notNegative,
  read,
  requireAnswer,
  requireDelay,
  required,
  requireOptions,
  requireText,
  string,
  whole,
} from "@holdfast/kit";
import type { Resource, Webhook } from "@holdfast/kubernetes";
import type { ApiResponse } from "./api-response.ts";
import { connectionError, type NamedRequest } from "./connection-error.ts";
import { Failure, qualified } from "./failure.ts";
import { array } from "./kinds.ts";
import type { FakeVerb } from "./request/api-call.ts";
import type { Progress, ResponseBody } from "./response-body.ts";

/** A request that a `FakeApi` has got. */
export interface FakeRequest {
  /** Time of arrival: `now()` of the clock, in milliseconds. */
  readonly at: number;

  /** HTTP method. */
  readonly method: string;

  /** Path with its query. */
  readonly path: string;

  /** Parameters of the query. */
  readonly query: URLSearchParams;

  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  /** Verb of the request. `"other"` for discovery and for paths at which nothing is. */
  readonly verb: FakeVerb;

  /** Plural with its group, for example `deployments.apps`. Undefined for `"other"`. */
  readonly resource: string | undefined;

  /** Namespace. Undefined for all namespaces and for objects of cluster scope. */
  readonly namespace: string | undefined;

  /** Name of the object. Empty for a collection. */
  readonly name: string;

  /** Subresource, for example `status`. */
  readonly subresource: string | undefined;

  /** HTTP status code of the response. Undefined until there is one. */
  readonly status: number | undefined;
}

/**
 * A fault of a request.
 *
 * | `type` | The client sees |
 * | --- | --- |
 * | `"status"` | this status, with the `Status` that an API server sends, and `Retry-After` if `retryAfter` is set |
 * | `"text"` | a response that is not JSON, as a proxy sends it. Status 200 and `text/html` by default |
 * | `"reject"` | a `ConnectionError`: `ECONNREFUSED`; over HTTP `ECONNRESET` |
 * | `"reset"` | a `ConnectionError`: `ECONNRESET`, at once or after a part of the body |
 * | `"drop"` | a `ConnectionError`: `ECONNRESET`, although the request is carried out |
 * | `"close"` | a clean end of the body, by default before its first byte |
 * | `"stall"` | nothing ever again: no response, or no further byte after a part of the body |
 * | `"line"` | this text in the body as well, before the first byte or after a part. For watches |
 * | `"delay"` | the correct response, `delay` milliseconds later |
 *
 * `after` is measured in whole lines (a watch sends one for each event) or in bytes.
 */
export type Fault =
  | {
      readonly type: "status";
      /** At least 100. */
      readonly status: number;
      readonly reason?: string | undefined;
      readonly message?: string | undefined;
      /** Seconds. */
      readonly retryAfter?: number | undefined;
    }
  | {
      readonly type: "text";
      readonly text: string;
      readonly status?: number | undefined;
      readonly contentType?: string | undefined;
    }
  | { readonly type: "reject" | "drop" }
  | { readonly type: "reset" | "close" | "stall"; readonly after?: Progress | undefined }
  | { readonly type: "line"; readonly text: string; readonly after?: Progress | undefined }
  | { readonly type: "delay"; readonly delay: number };

/**
 * A fault of a webhook. Its `failurePolicy` decides about the request.
 *
 * | `type` | The server sees |
 * | --- | --- |
 * | `"down"` | a connection that is refused |
 * | `"slow"` | an answer `delay` milliseconds later; without a `delay` none, until `timeoutSeconds` are over |
 * | `"refuses"` | an answer that denies the request, with this message, code and reason |
 * | `"status"` | an answer with this HTTP status. With `retryAfter`, 429 and 5xx are asked again until the timeout |
 */
export type HookFault =
  | { readonly type: "down" }
  | { readonly type: "slow"; readonly delay?: number | undefined }
  | {
      readonly type: "refuses";
      readonly message?: string | undefined;
      /** HTTP status of the refusal. At least 400; lower ones count as 400. */
      readonly code?: number | undefined;
      readonly reason?: string | undefined;
    }
  | {
      readonly type: "status";
      /** At least 100. */
      readonly status: number;
      /** Seconds. */
      readonly retryAfter?: number | undefined;
    };

/** The conversion of a resource with versions, named by its definition. */
export interface ConversionHook {
  /** The definition. */
  readonly crd?: object | undefined;
}

/** A fault, and the calls of a webhook that meet it. */
export interface HookFaultRule {
  /** The webhook: one of those that the server has, or a resource whose objects are converted. */
  readonly hook: Webhook | ConversionHook;

  /** The fault. The conversion of a resource is not asked again, and answers nothing after a delay. */
  readonly fault: HookFault;

  /** Number of calls that meet the fault; later ones do not. At least 1. Default: `Infinity`. */
  readonly times?: number | undefined;
}

/** A fault, and the requests that meet it. Every condition that is set must hold. */
export interface FaultRule {
  /** The fault, or a function that decides for each request. */
  readonly fault: Fault | ((request: FakeRequest) => Fault | undefined);

  /** Verbs. Default: all. */
  readonly verbs?: readonly FakeVerb[] | undefined;

  /** Resource. Default: all, and discovery. */
  readonly resource?: Resource | undefined;

  /** A condition of your own. Default: none. */
  readonly when?: ((request: FakeRequest) => boolean) | undefined;

  /** Number of requests that meet the fault; later ones do not. At least 1. Default: `Infinity`. */
  readonly times?: number | undefined;
}

const record = kind("record", (path, value) => requireOptions(path, value));

export const FAULT_RULE: Kinds<FaultRule> = {
  fault: required(kind("fault", requireFault)),
  verbs: array,
  resource: record,
  when: func,
  times: whole(1),
};

export const HOOK_FAULT_RULE: Kinds<HookFaultRule> = {
  hook: required(record),
  fault: required(kind("hookFault", requireHookFault)),
  times: whole(1),
};

const type = required(anything);
const AFTER = { type, after: record };

/** The properties of each fault of a webhook. */
export const HOOK_FAULTS: {
  readonly [Type in HookFault["type"]]: Kinds<FaultOf<Type, HookFault>>;
} = {
  down: { type },
  slow: { type, delay: kind("delay", requireDelay) },
  refuses: { type, message: string, code: whole(1), reason: string },
  status: { type, status: required(whole(100)), retryAfter: notNegative },
};

/** The fault of a type. */
type FaultOf<Type, Each = Fault> = Each extends { readonly type: infer Own }
  ? Type extends Own
    ? Each
    : never
  : never;

/** The properties of each fault. */
export const FAULTS: { readonly [Type in Fault["type"]]: Kinds<FaultOf<Type>> } = {
  status: {
    type,
    status: required(whole(100)),
    reason: string,
    message: string,
    retryAfter: notNegative,
  },
  text: { type, text: required(string), status: whole(100), contentType: string },
  reject: { type },
  drop: { type },
  reset: AFTER,
  close: AFTER,
  stall: AFTER,
  line: { ...AFTER, text: required(string) },
  delay: { type, delay: required(kind("delay", requireDelay)) },
};

/** The rules for webhooks that are in force. */
export class HookFaults {
  readonly #rules = new Set<{ readonly rule: HookFaultRule; left: number }>();

  /**
   * @param hooks - the webhooks of the server
   * @throws RangeError or TypeError that names the option
   */
  add(rule: HookFaultRule, hooks: readonly HookFaultRule["hook"][]): Disposable {
    const given = read("rule", rule, "intercept", HOOK_FAULT_RULE);
    if (!hooks.some((hook) => isSame(hook, given.hook)))
      throw new RangeError(
        "rule.hook must be one of options.webhooks of this FakeApi, or a resource that it converts",
      );
    const entry = { rule: given, left: given.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(entry);
    return { [Symbol.dispose]: () => void this.#rules.delete(entry) };
  }

  /** The fault of the latest rule for a webhook. */
  find(hook: HookFaultRule["hook"]): HookFault | undefined {
    const entry = [...this.#rules].reverse().find(({ rule }) => isSame(rule.hook, hook));
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left === 0) this.#rules.delete(entry);
    return entry.rule.fault;
  }
}

function isSame(a: HookFaultRule["hook"], b: HookFaultRule["hook"]): boolean {
  return a === b || ("crd" in a && "crd" in b && a.crd !== undefined && a.crd === b.crd);
}

/** The rules that are in force. */
export class Faults {
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>();

  /** @throws RangeError or TypeError that names the option */
  add(rule: FaultRule): Disposable {
    const given = read("rule", rule, "intercept", FAULT_RULE);
    const { times = Number.POSITIVE_INFINITY } = given;
    const entry = { rule: given, left: times };
    this.#rules.add(entry);
    return { [Symbol.dispose]: () => void this.#rules.delete(entry) };
  }

  /** The fault of the latest rule that covers a request. */
  find(request: FakeRequest): Fault | undefined {
    for (const entry of [...this.#rules].reverse()) {
      const fault = covers(entry.rule, request) ? faultOf(entry.rule, request) : undefined;
      if (fault === undefined) continue;
      entry.left -= 1;
      if (entry.left === 0) this.#rules.delete(entry);
      return fault;
    }
    return undefined;
  }
}

function requireFault(path: string, fault: FaultRule["fault"]): void {
  if (typeof fault !== "function") requireFaultOf(path, fault, FAULTS);
}

function requireHookFault(path: string, fault: HookFault): void {
  requireFaultOf(path, fault, HOOK_FAULTS);
}

/** @throws RangeError or TypeError for a fault that is none of a table */
function requireFaultOf(path: string, fault: { readonly type: string }, faults: object): void {
  requireOptions(path, fault);
  requireText(`${path}.type`, fault.type);
  if (!Object.hasOwn(faults, fault.type))
    throw new RangeError(
      `${path}.type must be one of ${Object.keys(faults).join(", ")}, got ${JSON.stringify(fault.type)}`,
    );
  const kinds = (faults as Readonly<Record<string, Kinds<object>>>)[fault.type] as Kinds<object>;
  read<object>(path, fault, `the fault "${fault.type}"`, kinds);
}

function covers({ verbs, resource, when }: FaultRule, request: FakeRequest): boolean {
  if (verbs !== undefined && !verbs.includes(request.verb)) return false;
  if (resource !== undefined && qualified(resource) !== request.resource) return false;
  return when === undefined || requireAnswer("rule.when(request)", when(request));
}

function faultOf({ fault }: FaultRule, request: FakeRequest): Fault | undefined {
  return typeof fault === "function" ? fault(request) : fault;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/**
 * Lets a fault happen before its request is carried out.
 *
 * @param pause - waits for milliseconds, unless the connection is closed before
 * @throws ConnectionError for a fault of the connection
 */
export async function meetFault(
  fault: Fault | undefined,
  request: NamedRequest,
  pause: (delay: number) => Promise<void>,
): Promise<void> {
  switch (fault?.type) {
    case "reject":
      throw connectionError("ECONNREFUSED", request);
    case "reset":
      if (fault.after === undefined) throw connectionError("ECONNRESET", request);
      break;
    case "stall":
      if (fault.after === undefined) await pause(Number.POSITIVE_INFINITY);
      break;
    case "delay":
      await pause(fault.delay);
      break;
    default:
  }
}

/** The response of a fault, if it is one. */
export function responseOf(fault: Fault | undefined): ApiResponse | undefined {
  if (fault?.type === "text") {
    const { text, status = 200, contentType = "text/html" } = fault;
    return { status, text, headers: { "content-type": contentType } };
  }
  return fault?.type === "status" ? statusResponse(fault) : undefined;
}

function statusResponse(fault: Extract<Fault, { type: "status" }>): ApiResponse {
  const { status, retryAfter, reason = REASONS[status], message = reason ?? "fault" } = fault;
  if (retryAfter === undefined)
    return { status, json: new Failure(status, { reason, message }).status };
  const details = { retryAfterSeconds: retryAfter };
  const { status: json } = new Failure(status, { reason, message, details });
  return { status, json, headers: { "retry-after": String(retryAfter) } };
}

/**
 * Lets a fault happen in the response.
 *
 * @throws ConnectionError for one that loses it
 */
export function breakResponse(
  fault: Fault | undefined,
  request: NamedRequest,
  body: ResponseBody,
): void {
  const after = (fault as { after?: Progress } | undefined)?.after ?? {};
  switch (fault?.type) {
    case "drop":
      throw connectionError("ECONNRESET", request);
    case "reset":
      body.whenReached(after, () => body.reset());
      break;
    case "close":
      body.whenReached(after, () => body.end());
      break;
    case "stall":
      body.whenReached(after, () => body.stall());
      break;
    case "line":
      body.whenReached(after, () => body.write(`${fault.text}\n`));
      break;
    default:
  }
}
