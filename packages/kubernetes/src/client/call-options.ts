import {
  abortSignal,
  anything,
  count,
  flag,
  type Kind,
  type Kinds,
  kind,
  notNegative,
  parsed,
  read,
  requireArray,
  required,
  requireFinite,
  requireText,
  requireWhole,
  requireWord,
  text,
  whole,
} from "@holdfast/kit";

import { segment } from "@holdfast/kit/kubernetes";
import { record } from "../kinds.ts";

import type { CachedObject, KubeObject, StoredObject } from "../object/kube-object.ts";
import type { FieldSelector, LabelSelector } from "../object/selector.ts";
import type { ApiRequest } from "./api-request.ts";
import type { ApplyUpgrade } from "./apply-upgrade.ts";

/** Options that all calls of a client share. */
export interface KubeCallOptions {
  /**
   * Ends the call early: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Milliseconds that the call may take, with all its requests and waits. At least 0, or `Infinity`.
   *
   * @defaultValue `30_000`
   */
  readonly timeout?: number | undefined;

  /**
   * How often a request is sent again in a row because the server was too busy for it and named a time. Whole, at least 0.
   * 0 leaves it to the caller: code that repeats the call itself, such as a loop with a delay of its own.
   *
   * @defaultValue `5`
   */
  readonly retries?: number | undefined;
}

/** Options for `get` and `find`. */
export interface KubeReadOptions extends KubeCallOptions {
  /**
   * Subresource, for example `"status"` or `"scale"`. Others than the status have objects of a kind of their own, which
   * are sent as given, with the name in their metadata, and returned as received: a `Scale`, or the `Status` of an
   * eviction. Their type is that of the resource you pass: `builtIn<Scale>("apps/v1", "Deployment")`.
   *
   * @defaultValue the object itself
   */
  readonly subresource?: string | undefined;
}

/** Options for `create`, `update`, `patch` and `modify`. */
export interface KubeWriteOptions extends KubeReadOptions {
  /**
   * Name under which the server notes the written fields. At most 128 characters.
   *
   * @defaultValue that of the client
   */
  readonly fieldManager?: string | undefined;

  /**
   * Whether the server checks the write and responds, but stores nothing.
   *
   * @defaultValue `false`
   */
  readonly dryRun?: boolean | undefined;

  /**
   * What the server does about fields that the schema does not know: drops them (`"Ignore"`), drops them with a warning
   * (`"Warn"`), or refuses the write with an `ApiError` of the reason `BadRequest`, a patch with `Invalid` (`"Strict"`). An
   * apply of a custom resource with such a field is refused in any case.
   *
   * @defaultValue that of the server, `"Warn"`
   */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
}

/** Options for `apply`. */
export interface KubeApplyOptions extends KubeWriteOptions {
  /**
   * Whether fields of other managers are taken over. If not, these are a `Conflict`.
   *
   * @defaultValue `true`
   */
  readonly force?: boolean | undefined;

  /**
   * Whether the object must be new, or have the controller that `object` names in `metadata.ownerReferences`, see
   * `ownerReference`. If it has another controller or none, the call rejects with an `ApiError` of the reason
   * `AlreadyExists`, and changes nothing. Set it wherever users choose the name of the object. It costs a GET.
   *
   * @defaultValue `false`
   */
  readonly owned?: boolean | undefined;

  /**
   * The object as an informer has it, to save the request if it would change nothing: this field manager has applied
   * exactly the fields of `object`, and they have these values. Otherwise, and when it cannot be told, the server is
   * asked. Undefined for an object that the informer lacks: it is created. An option `transform` of the informer
   * must leave the applied fields as they are. Also an object of `get`.
   *
   * The server is asked each time for a value that it stores in another form: `"1000m"` for `"1"`, or an item of a list
   * without keys to which it adds defaults. For each kind, the first applies after a start are sent too if they have lists
   * or maps that are owned as a whole: their responses show which are.
   *
   * @defaultValue none: the server is always asked
   */
  readonly cached?: CachedObject | undefined;
}

/** Options for `upgradeToApply`. */
export interface KubeUpgradeOptions extends Omit<KubeWriteOptions, "subresource"> {
  /**
   * Field managers whose updates are taken over, for example the name of the program that was there before. At least one.
   *
   * @defaultValue `[fieldManager]`: its own updates
   */
  readonly from?: readonly string[] | undefined;
}

/** Options for `delete`. */
export interface KubeDeleteOptions extends KubeCallOptions {
  /**
   * Fate of the objects that the object owns: deleted after it, deleted before it, or kept.
   *
   * @defaultValue that of the resource, mostly `"Background"`
   */
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;

  /**
   * Seconds that a Pod gets to stop. Whole, at least 0; 0 removes it at once, even if it still runs. Other kinds ignore it,
   * and so does a `FakeApi`.
   *
   * @defaultValue that of the object: 30 for most Pods
   */
  readonly gracePeriodSeconds?: number | undefined;

  /**
   * UID that the object must have, else the call rejects with a `Conflict`.
   *
   * @defaultValue any
   */
  readonly uid?: string | undefined;

  /**
   * Version that the object must have, else the call rejects with a `Conflict`.
   *
   * @defaultValue any
   */
  readonly resourceVersion?: string | undefined;

  /**
   * Whether the server checks the deletion and responds, but deletes nothing.
   *
   * @defaultValue `false`
   */
  readonly dryRun?: boolean | undefined;
}

/** Options for `deleteCollection`. Without namespace and selectors it deletes every object of the resource. */
export interface KubeDeleteCollectionOptions
  extends Pick<KubeListOptions, "namespace" | "labels" | "fields">,
    Omit<KubeDeleteOptions, "uid" | "resourceVersion"> {}

/** Options for `list`. The timeout is that of a page. */
export interface KubeListOptions extends KubeCallOptions {
  /**
   * Namespace of the objects.
   *
   * @defaultValue all
   */
  readonly namespace?: string | undefined;

  /**
   * Labels that the objects must have.
   *
   * @defaultValue any
   */
  readonly labels?: LabelSelector | undefined;

  /**
   * Fields that the objects must have.
   *
   * @defaultValue any
   */
  readonly fields?: FieldSelector | undefined;

  /**
   * Number of objects in a request. Whole, at least 1.
   *
   * @defaultValue `500`
   */
  readonly pageSize?: number | undefined;
}

/** Options for `watch`. The timeout is that of the server's first response. */
export interface KubeWatchOptions
  extends KubeCallOptions,
    Pick<KubeListOptions, "namespace" | "labels" | "fields"> {
  /**
   * Version after which the changes are wanted: of an object, a list or an event.
   *
   * @defaultValue the current one, and each object that exists comes first, as `ADDED`
   */
  readonly resourceVersion?: string | undefined;

  /**
   * Whether the server also sends its version from time to time, in events of the type `BOOKMARK`: about once a minute, and
   * before it closes the watch. A version that is known to be recent is rarely too old.
   *
   * @defaultValue `false`
   */
  readonly bookmarks?: boolean | undefined;
}

/** An event of `watch`. An object that no longer matches the selectors is `DELETED`. */
export type KubeWatchEvent<T extends KubeObject = KubeObject> =
  | {
      /** What happened. */
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      /** The object after it. A deleted one in its last state. */
      readonly object: StoredObject<T>;
      /** Version to go on from. */
      readonly resourceVersion: string;
    }
  | {
      /** Nothing happened. */
      readonly type: "BOOKMARK";
      /** None. */
      readonly object?: undefined;
      /** Version to go on from. */
      readonly resourceVersion: string;
    };

/** Options for `request`. */
export interface KubeRequestOptions extends KubeCallOptions {
  /** Path from the root of the server, encoded, without a query: `"/version"`. */
  readonly path: string;

  /**
   * HTTP method.
   *
   * @defaultValue `"GET"`
   */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;

  /**
   * Query. Members that are undefined are left out.
   *
   * @defaultValue none
   */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;

  /**
   * Body, sent as JSON.
   *
   * @defaultValue none
   */
  readonly body?: unknown;

  /**
   * Type of the body.
   *
   * @defaultValue `"application/json"`
   */
  readonly contentType?: string | undefined;
}

/** Limits of a call. */
export interface Limits {
  readonly signal: AbortSignal | undefined;
  readonly timeout: number;
  readonly retries: number;
}

function word(name: string, ...words: readonly string[]): Kind {
  return kind(name, (path, value: unknown) => requireWord(path, value, ...words));
}

export const fieldManager: Kind = kind("fieldManager", requireFieldManager);

export const CALL_OPTIONS: Kinds<KubeCallOptions> = {
  signal: abortSignal,
  timeout: notNegative,
  retries: whole(0),
};

export const READ_OPTIONS: Kinds<KubeReadOptions> = { ...CALL_OPTIONS, subresource: segment };

const WRITTEN = {
  fieldManager,
  dryRun: flag,
  fieldValidation: word("fieldValidation", "Ignore", "Warn", "Strict"),
};

export const WRITE_OPTIONS: Kinds<KubeWriteOptions> = { ...READ_OPTIONS, ...WRITTEN };

export const APPLY_OPTIONS: Kinds<KubeApplyOptions> = {
  ...WRITE_OPTIONS,
  force: flag,
  owned: flag,
  cached: parsed("cached"),
};

export const UPGRADE_OPTIONS: Kinds<KubeUpgradeOptions> = {
  ...CALL_OPTIONS,
  ...WRITTEN,
  from: kind("managers", requireManagers),
};

const propagation = word("propagation", "Background", "Foreground", "Orphan");
const gracePeriodSeconds = kind("seconds", requireSeconds);

export const DELETE_OPTIONS: Kinds<KubeDeleteOptions> = {
  ...CALL_OPTIONS,
  propagation,
  gracePeriodSeconds,
  uid: text,
  resourceVersion: text,
  dryRun: flag,
};

/** Where objects are: their selectors are checked when they are written. */
const PLACE = { namespace: parsed("place"), labels: parsed("place"), fields: parsed("place") };

export const DELETE_COLLECTION_OPTIONS: Kinds<KubeDeleteCollectionOptions> = {
  ...CALL_OPTIONS,
  ...PLACE,
  propagation,
  gracePeriodSeconds,
  dryRun: flag,
};

export const LIST_OPTIONS: Kinds<KubeListOptions> = { ...CALL_OPTIONS, ...PLACE, pageSize: count };

export const WATCH_OPTIONS: Kinds<KubeWatchOptions> = {
  ...CALL_OPTIONS,
  ...PLACE,
  resourceVersion: text,
  bookmarks: flag,
};

export const REQUEST_OPTIONS: Kinds<KubeRequestOptions> = {
  ...CALL_OPTIONS,
  path: required(kind("requestPath", requireRequestPath)),
  method: word("httpMethod", "GET", "POST", "PUT", "PATCH", "DELETE"),
  query: record,
  body: anything,
  contentType: text,
};

/**
 * The options of a call, with the defaults of its limits.
 *
 * @throws RangeError or TypeError that names the option
 */
export function resolveCall<Options extends KubeCallOptions>(
  options: Options,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): Options & Limits {
  const given = read("options", options, door, kinds);
  const { signal, timeout = 30_000, retries = 5 } = given;
  return { ...given, signal, timeout, retries };
}

/** Options of a write with their defaults. */
export interface ResolvedWrite extends Limits {
  readonly subresource: string | undefined;
  readonly query: Readonly<
    Record<"fieldManager" | "dryRun" | "fieldValidation", string | undefined>
  >;
  readonly dryRun: boolean;
}

/** @throws RangeError or TypeError that names the option */
export function resolveWrite<Options extends KubeWriteOptions>(
  options: Options,
  manager: string,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): ResolvedWrite {
  return writeOf(resolveCall(options, door, kinds), manager);
}

function writeOf(given: Limits & KubeWriteOptions, manager: string): ResolvedWrite {
  const { signal, timeout, retries, subresource, dryRun = false, fieldValidation } = given;
  const query = {
    fieldManager: given.fieldManager ?? manager,
    dryRun: dryRun ? "All" : undefined,
    fieldValidation,
  };
  return { signal, timeout, retries, subresource, query, dryRun };
}

/** @throws RangeError or TypeError that names the option */
export function resolveUpgrade(
  options: KubeUpgradeOptions,
  manager: string,
): ResolvedWrite & ApplyUpgrade {
  const given = resolveCall(options, "upgradeToApply", UPGRADE_OPTIONS);
  const { fieldManager: own = manager, from = [own] } = given;
  return { ...writeOf(given, own), from, manager: own };
}

function requireManagers(path: string, managers: readonly string[]): void {
  requireArray(path, managers);
  if (managers.length === 0)
    throw new RangeError(`${path} must have at least one field manager, got an empty array`);
  for (const [index, one] of managers.entries()) requireText(`${path}[${index}]`, one);
}

/** @throws RangeError or TypeError if a name is not 1 to 128 printable characters */
function requireFieldManager(path: string, name: string): void {
  requireText(path, name);
  if (!/^[\x20-\x7e]{1,128}$/.test(name))
    throw new RangeError(
      `${path} must be at most 128 characters of printable ASCII, got ${JSON.stringify(name.slice(0, 300))}`,
    );
}

/** @throws RangeError or TypeError that names the option */
export function resolveDelete<Options extends Omit<KubeDeleteOptions, "uid" | "resourceVersion">>(
  options: Options,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): Limits & { dryRun: boolean; body: Readonly<Record<string, unknown>> } {
  const given: Limits & KubeDeleteOptions = resolveCall(options, door, kinds);
  const { signal, timeout, retries, propagation, gracePeriodSeconds, dryRun = false } = given;
  const { uid, resourceVersion } = given;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: propagation,
    gracePeriodSeconds,
    // A server that gets a body does not look at the query.
    dryRun: dryRun ? ["All"] : undefined,
    preconditions:
      uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
  };
  return { signal, timeout, retries, dryRun, body };
}

function requireSeconds(path: string, seconds: number): void {
  requireWhole(path, requireFinite(path, seconds), 0);
}

function requireRequestPath(name: string, path: string): void {
  requireText(name, path);
  // Dots would lead elsewhere: whoever sends the request resolves them.
  if (!/^\/[!-~]*$/.test(path) || /[?#\\]|\/(\.|%2e){1,2}(\/|$)/i.test(path))
    throw new RangeError(
      `${name} must begin with "/", encoded, without a query and without the segments "." and "..", got ${JSON.stringify(path.slice(0, 300))}`,
    );
}

/** @throws RangeError or TypeError that names the option */
export function resolveRequest(options: KubeRequestOptions): {
  limits: Limits;
  request: ApiRequest;
} {
  const given = resolveCall(options, "request", REQUEST_OPTIONS);
  const { path, method = "GET", query, body, contentType, ...limits } = given;
  const accept = "application/json, */*";
  return { limits, request: { method, path, query, body, contentType, accept } };
}

/** Length of a watch, in seconds: the server closes it after this time. */
export const WATCH_SECONDS = 300;

/** @throws RangeError or TypeError that names the option */
export function resolveWatch(options: KubeWatchOptions): {
  limits: Limits;
  query: NonNullable<ApiRequest["query"]>;
} {
  const { signal, timeout, retries, ...given } = resolveCall(options, "watch", WATCH_OPTIONS);
  const { resourceVersion, bookmarks = false } = given;
  const limits = { signal, timeout, retries };
  const allowWatchBookmarks = bookmarks || undefined;
  const timeoutSeconds = WATCH_SECONDS;
  return { limits, query: { watch: true, resourceVersion, allowWatchBookmarks, timeoutSeconds } };
}
