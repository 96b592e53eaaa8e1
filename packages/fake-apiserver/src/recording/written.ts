import type { KubeObject, KubeRequest, StoredObject } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, parseJson, without } from "../object/json.ts";
import type { Normalise } from "../server/normal-form.ts";
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
      const seen =
        typeof request === "string"
          ? { request: rename(request), body: undefined }
          : describe(request);
      if (seen === undefined) continue;
      const refused = status >= 400 ? status : undefined;
      const text = JSON.stringify([seen, refused]);
      const before = writes.get(text);
      const { at: first, times: count } = before ?? { at, times: 0 };
      writes.set(text, { ...seen, refused, at: first, times: count + 1 });
    }
    return writes;

    function describe(request: KubeRequest): Pick<ShadowWrite, "request" | "body"> | undefined {
      const { call } = readRequest(request, served);
      if (call === undefined)
        return {
          request: rename(`${request.method} ${request.path.split("?")[0]}`),
          body: bodyOf(request.body, rename),
        };
      if (ASIDE.has(call.served.storeKey)) return undefined;
      const { verb, namespace, subresource, query } = call;
      const { apiVersion, kind, storeKey } = call.served;
      const name = call.name === "" && verb === "deletecollection" ? `${query}` : nameOf(call);
      const given = parseJson(call.body ?? "");
      const body = isObject(given) && verb !== "delete" ? given : undefined;
      const metadata = { ...(body && metadataOf(body)), name, namespace };
      const object = { apiVersion, kind, ...body, metadata } as unknown as StoredObject<KubeObject>;
      const kept = normalise(object) as JsonObject | undefined;
      if (kept === undefined) return undefined;
      const added = ["apiVersion", "kind", "metadata"].filter((part) => !(body && part in body));
      const { headers } = request;
      const isApply = headers["content-type"]?.includes("apply-patch") === true;
      const place = `${nameIn(storeKey)}${subresource ? `/${subresource}` : ""}`;
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      return {
        request: rename(`${isApply ? "apply" : verb} ${place} ${key}`),
        body: bodyOf(
          body === undefined ? call.body : JSON.stringify(without(kept, ...added)),
          rename,
        ),
      };
    }
  }
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
