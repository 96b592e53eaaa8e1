import type { KubeObject, KubeRequest, StoredObject } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, parseJson, without } from "../object/json.ts";
import type { Normalise } from "../server/normal-form.ts";
import { type ApiCall, keyOfCall } from "../server/request/api-call.ts";
import { readRequest } from "../server/request/read-request.ts";
import type { ServedResource } from "../server/resource/served-resource.ts";
import { bodyOf, isWrite, nameOf, withoutTimes } from "./exchange.ts";
import { nameIn } from "./rerun-api.ts";

/** A write of an operator, or a call of a linked system. */
export interface ShadowWrite {
  /** For example `patch deployments.apps/status default/web`, or `dns.put("www")`. */
  readonly request: string;

  /** The body of the request, without versions and times. Undefined if it has none. */
  readonly body: unknown;

  /** The HTTP status code if the server refused it. Undefined if it was done. */
  readonly refused: number | undefined;

  /** The first time, in milliseconds since the begin of the recording. */
  readonly at: number;

  /** How often it was sent. */
  readonly times: number;
}

interface Sent {
  readonly at: number;
  readonly status: number;
  readonly request: KubeRequest | string;
}

/** Answers that depend on the moment: the write is repeated, or was needless. */
const OF_THE_MOMENT = new Set([404, 409, 410, 429]);

/** Stores of objects that tell of a run and not of its result. */
const ASIDE = new Set(["/events", "events.k8s.io/events", "coordination.k8s.io/leases"]);

/** The writes of one run. */
export class Written {
  readonly #sent: Sent[] = [];
  readonly #start: number;

  /** @param start - milliseconds since the epoch from which times are those of the run */
  constructor(start: number) {
    this.#start = start;
  }

  add(sent: Sent): void {
    if (OF_THE_MOMENT.has(sent.status) || sent.status >= 500) return;
    if (typeof sent.request === "string" || isWrite(sent.request)) this.#sent.push(sent);
  }

  /** The writes by a text that equal ones have in common. */
  byText(
    served: readonly ServedResource[],
    labels: ReadonlyMap<string, string>,
    normalise: Normalise,
  ): Map<string, ShadowWrite> {
    const times = withoutTimes(this.#start);
    const rename = (text: string): string =>
      times(text).replace(UID, (uid) => labels.get(uid) ?? uid);
    const writes = new Map<string, ShadowWrite>();
    for (const { at, status, request } of this.#sent) {
      const plain =
        typeof request === "string" ? { request } : describe(request, served, normalise);
      if (plain === undefined) continue;
      const seen = { request: rename(plain.request), body: bodyOf(plain.body, rename) };
      const refused = status >= 400 ? status : undefined;
      const text = JSON.stringify([seen, refused]);
      const { at: first, times: count } = writes.get(text) ?? { at, times: 0 };
      writes.set(text, { ...seen, refused, at: first, times: count + 1 });
    }
    return writes;
  }
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A write in words, and the body of it that counts. Undefined if it does not count. */
function describe(
  request: KubeRequest,
  served: readonly ServedResource[],
  normalise: Normalise,
): { readonly request: string; readonly body?: string | undefined } | undefined {
  const { method, path, headers, body } = request;
  const { call } = readRequest(request, served);
  if (call === undefined) return { request: `${method} ${path.split("?")[0]}`, body };
  if (ASIDE.has(call.served.storeKey)) return undefined;
  const name = call.verb === "deletecollection" ? `${call.query}` : nameOf(call);
  const counted = countedBody(call, name, normalise);
  if (counted === undefined) return undefined;
  const isApply = headers["content-type"]?.includes("apply-patch") === true;
  const part = call.subresource === undefined ? "" : `/${call.subresource}`;
  const text = `${isApply ? "apply" : call.verb} ${nameIn(call.served.storeKey)}${part}`;
  return { request: `${text} ${keyOfCall(call, name)}`, ...counted };
}

/** The body of a write without the parts that do not count. Undefined if none of it does. */
function countedBody(
  { served, verb, namespace, body }: ApiCall,
  name: string,
  normalise: Normalise,
): { readonly body: string | undefined } | undefined {
  const { apiVersion, kind } = served;
  const given = parseJson(body ?? "");
  const object = isObject(given) && verb !== "delete" ? given : undefined;
  const metadata = { ...metadataOf(object ?? {}), name, namespace };
  const seen = { apiVersion, kind, ...object, metadata } as unknown as StoredObject<KubeObject>;
  const kept = normalise(seen) as JsonObject | undefined;
  if (kept === undefined) return undefined;
  if (object === undefined) return { body };
  const added = ["apiVersion", "kind", "metadata"].filter((part) => !(part in object));
  return { body: JSON.stringify(without(kept, ...added)) };
}
