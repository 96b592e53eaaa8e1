import type { Line } from "@holdfast/controller/recording";
import type { KubeRequest } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, own, parseJson } from "../object/json.ts";
import { rewritten, TIME } from "../server/normal-form.ts";
import type { ApiCall } from "../server/request/api-call.ts";

/** A recorded request, and what came of it. Instants are those of the recording, in milliseconds. */
export interface Exchange {
  readonly request: KubeRequest;
  /** Undefined if the path is that of no resource. */
  readonly call: ApiCall | undefined;
  /** The object that it writes. */
  place?: Place;
  /** The version that it has made. */
  version?: Version;
  /** The instant of the request. */
  readonly at: number;
  head?: { readonly at: number; readonly status: number; readonly headers: Line };
  /** The body; of a watch its last event, if that is an error. */
  text: string;
  /** The instant of its end. Undefined if there was none. */
  end?: number;
  /** The error of its connection. */
  error?: Line;
  /** Whether the answer was cut. */
  isCut?: boolean;
}

/** A version of an object, or its deletion. */
export interface Version {
  /** `resourceVersion`; of a deletion that no watch has shown, a number between those around. */
  number: number;
  /** Undefined for a deletion. */
  object: JsonObject | undefined;
  /** The instant at which the program saw it first. */
  seen: number;
  /** The instant at which a watch showed it. */
  watched: number | undefined;
  /** The write of the program that made it. Undefined: others did. */
  by: Exchange | undefined;
  /** The latest instant at which it can have been made. */
  at: number;
}

/** An object by its store and key, with its versions in order. */
export interface Place {
  readonly store: string;
  readonly key: string;
  readonly versions: Version[];
  /** Whether its first version was there before the program. */
  isOld: boolean;
}

/** The status code of the answer; 500 if there is none. */
export function statusOf({ head }: Exchange): number {
  return head?.status ?? 500;
}

/** Whether an exchange is a watch that has begun. */
export function isWatch(exchange: Exchange): boolean {
  return exchange.call?.verb === "watch" && statusOf(exchange) < 300;
}

/** Whether a program gets the recorded end of a request, whatever is in the server: of a fault, or of no right. */
export function isFault(exchange: Exchange): boolean {
  const { error, end, isCut } = exchange;
  if (isWatch(exchange)) return false;
  if (error !== undefined || end === undefined || isCut) return true;
  return statusOf(exchange) >= 500 || REFUSALS.has(statusOf(exchange));
}

/** Refusals that do not depend on objects. */
const REFUSALS = new Set([401, 403, 410, 429]);

/** Whether a request writes. */
export function isWrite({ method, path }: KubeRequest): boolean {
  return method !== "GET" && method !== "HEAD" && !/[?&]dryRun=/.test(path);
}

/** Parameters in which two equal requests may differ. */
const ASIDE = ["resourceVersion", "resourceVersionMatch", "continue", "timeoutSeconds"];

/** A text that equal requests have in common: without versions, and without times of the run. */
export function keyOf({ method, path, body }: KubeRequest, start: number): string {
  const [place, query] = path.split("?");
  const parameters = new URLSearchParams(query);
  for (const name of ASIDE) parameters.delete(name);
  const content = bodyOf(body, withoutTimes(start));
  return `${method} ${place}?${parameters} ${JSON.stringify(content)}`;
}

/** The body of a request, without versions of objects. */
export function bodyOf(body: string | undefined, rename: (text: string) => string): unknown {
  return body === undefined
    ? undefined
    : rewritten(withoutVersions(parseJson(body) ?? body), rename);
}

function withoutVersions(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !testsVersion(item)).map(withoutVersions);
  if (!isObject(value)) return value;
  const { resourceVersion: _, ...rest } = value;
  return Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [name, withoutVersions(part)]),
  );
}

function testsVersion(step: unknown): boolean {
  return isObject(step) && step["path"] === "/metadata/resourceVersion";
}

/** Replaces the times from an instant on. */
export function withoutTimes(start: number): (text: string) => string {
  return (text) =>
    text.replace(TIME, (time) => (Date.parse(time) >= start - 1_000 ? "<time>" : time));
}

/** The name that a write gives its object, as text that does not depend on chance. */
export function nameOf({ name, body }: ApiCall): string {
  const given = parseJson(body ?? "");
  const metadata = isObject(given) ? metadataOf(given) : {};
  return name || String(own(metadata, "name") ?? `${own(metadata, "generateName")}*`);
}
