import type { Head, Line, Recording } from "@holdfast/controller/recording";
import { builtIn, type KubeObject, type KubeRequest, type Resource } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, own, parseJson } from "../object/json.ts";
import { type ApiCall, keyOfCall } from "../server/request/api-call.ts";
import { readRequest } from "../server/request/read-request.ts";
import { type ServedResource, servedResources } from "../server/resource/served-resource.ts";
import { type Exchange, isWatch, isWrite, nameOf, resourcesIn } from "./exchange.ts";
import { History, isRemoved, itemsOf, numberOf } from "./history.ts";

/** Resources that every operator may use. */
const BESIDE = [
  builtIn<KubeObject>("coordination.k8s.io/v1", "Lease"),
  builtIn<KubeObject>("events.k8s.io/v1", "Event"),
];

/** A recorded call that is no request: its inputs by their instants. */
export interface RecordedCall {
  readonly at: number;
  readonly inputs: { readonly at: number; readonly line: Line }[];
}

/** Lines of a request, as they came. */
interface Raw {
  readonly ask: Line;
  readonly at: number;
  readonly inputs: { readonly at: number; readonly line: Line }[];
}

/** What a recording tells of a cluster: requests with their answers, and objects with their versions. */
export class Incident {
  readonly head: Head;
  readonly resources: readonly Resource[];
  readonly served: readonly ServedResource[];
  readonly history: History = new History();
  /** In the order of the requests. */
  readonly exchanges: readonly Exchange[];
  /** Calls of linked systems, and waits for signals, by their text. */
  readonly calls: ReadonlyMap<string, readonly RecordedCall[]>;
  /** Methods of linked systems that make objects. */
  readonly makers: ReadonlySet<string>;
  /** The version of the server when the program began. */
  readonly version: number;
  /** The instant of the last line. */
  readonly end: number;
  /** Whether the program ended with an error. */
  readonly fails: boolean;

  /** @throws Error for a recording without its first segment, and for a gap */
  constructor(recording: Recording, resources: readonly Resource[]) {
    const { head } = recording;
    this.head = head;
    if (head.segment !== 1)
      throw new Error(
        `shadow: the first segment of the process must be there, got segment ${head.segment}, and the recording has no snapshot: raise maxBytes, so that the ring keeps it`,
      );
    const { requests, inputs, calls, makers, end, fails } = readLines(recording);
    this.calls = calls;
    this.makers = makers;
    this.end = end;
    this.fails = fails;
    const texts = requests.map((raw) => [requestOf(raw.ask), textsOf(raw)] as const);
    const given = new Set(resources.map(({ apiVersion, plural }) => `${apiVersion} ${plural}`));
    const found = resourcesIn(texts).filter(
      ({ apiVersion, plural }) => !given.has(`${apiVersion} ${plural}`),
    );
    const known = [...resources, ...found];
    const has = (kind: string): boolean => known.some((one) => one.kind === kind);
    this.resources = [...known, ...BESIDE.filter(({ kind }) => !has(kind))];
    this.served = servedResources(this.resources);
    const exchanges = new Map(requests.map((raw) => [raw, this.#exchangeOf(raw)]));
    this.exchanges = [...exchanges.values()];
    const sights = new Sights(this.history);
    for (const { raw, at, line } of inputs) sights.take(exchanges.get(raw) as Exchange, line, at);
    this.version = Number.isFinite(sights.first) ? sights.first : 1;
    const lost = this.exchanges.filter(
      ({ place, isCut, head: answer }) => place && (isCut || (answer?.status ?? 500) >= 500),
    );
    this.history.attribute(lost, ({ call }) => call?.query.get("fieldManager") ?? head.name);
    this.history.close(this.wallOf(head.mono), (instant) => this.wallOf(instant));
  }

  /** An instant of the recording in milliseconds since the epoch. */
  wallOf(instant: number): number {
    return this.head.wall + instant;
  }

  #exchangeOf({ ask, at }: Raw): Exchange {
    const request = requestOf(ask);
    const { call } = readRequest(request, this.served);
    const exchange: Exchange = { request, call, at, text: "" };
    if (call !== undefined && isWrite(request) && call.verb !== "deletecollection")
      exchange.place = this.history.place(call.served.storeKey, keyOfCall(call, nameOf(call)));
    return exchange;
  }
}

function readLines(recording: Recording) {
  const open = new Map<number, Raw>();
  const requests: Raw[] = [];
  const inputs: { readonly raw: Raw; readonly at: number; readonly line: Line }[] = [];
  const calls = new Map<string, RecordedCall[]>();
  const makers = new Set<string>();
  let now = recording.head.mono;
  let fails = false;
  for (const line of recording.lines()) {
    if (line.k === "gap")
      throw new Error(
        `shadow: the recording has a gap in ${recording.files[0]} and its next segments: what others did meanwhile is not known`,
      );
    if (typeof line.t === "number") now = line.t;
    if (line.k === "end") fails = "e" in line;
    const raw: Raw = { ask: line, at: now, inputs: [] };
    if (line.k === "m") makers.add(`${line["c"]}`);
    else if (line.k === "q") requests.push(raw);
    else if (line.k === "l") calls.set(`${line["c"]}`, [...(calls.get(`${line["c"]}`) ?? []), raw]);
    else {
      const asked = line.k === "R" ? undefined : open.get(line.n ?? -1); // R counts reads
      asked?.inputs.push({ at: now, line });
      if (asked?.ask.k === "q") inputs.push({ raw: asked, at: now, line });
      continue;
    }
    if (line.n !== undefined) open.set(line.n, raw);
  }
  return { requests, inputs, calls, makers, end: now, fails };
}

function requestOf(ask: Line): KubeRequest {
  const { m, u, h, a, body } = ask as unknown as Record<string, string | undefined>;
  const headers = {
    ...(h !== undefined && { "content-type": h }),
    ...(a !== undefined && { accept: a }),
  };
  return { method: m as string, path: u as string, headers, body };
}

function textsOf({ inputs }: Raw): string[] {
  return inputs.flatMap(({ line: { body } }) => (typeof body === "string" ? body.split("\n") : []));
}

/** Reads objects out of answers. */
class Sights {
  readonly #history: History;
  /** The keys of the lists and watches of one selection. */
  readonly #selected = new Map<string, Set<string>>();
  /** Keys of the pages of a list that has more. */
  readonly #pages = new Map<string, Set<string>>();
  /** The version of the first list. */
  first = Number.POSITIVE_INFINITY;

  constructor(history: History) {
    this.#history = history;
  }

  take(exchange: Exchange, line: Line, at: number): void {
    const text = typeof line["body"] === "string" ? line["body"] : "";
    if (line.k === "h")
      exchange.head = { at, status: line["s"] as number, headers: line["h"] as Line };
    if (line.k === "x") exchange.error = line;
    if (line.k === "x" || line.k === "e") exchange.end = at;
    if (isWatch(exchange)) {
      for (const event of text.split("\n")) this.#event(exchange, event, at);
      return;
    }
    exchange.text += text;
    if (line.k === "e" && exchange.call !== undefined) this.#answer(exchange, exchange.call, at);
  }

  #event(exchange: Exchange, text: string, at: number): void {
    const event = parseJson(text);
    if (!isObject(event) || !isObject(event["object"])) return;
    const { type, object } = event;
    const call = exchange.call as ApiCall;
    if (type === "ERROR") exchange.text = `${text}\n`;
    if (type === "ERROR" || type === "BOOKMARK") return;
    const one = asSeen(call, object as JsonObject);
    const key = keyOfObject(call, one);
    const keys = this.#selection(call);
    const isGone = type === "DELETED";
    if (isGone) keys.delete(key);
    else keys.add(key);
    const number = numberOf(one);
    const seen = { object: isGone ? undefined : one, number, at, isWatched: true };
    this.#history.see({ store: call.served.storeKey, key, ...seen });
  }

  #answer(exchange: Exchange, call: ApiCall, at: number): void {
    const answer = parseJson(exchange.text);
    const status = exchange.head?.status ?? 500;
    if (!isObject(answer)) exchange.isCut = true;
    if (!isObject(answer) || call.subresource === "scale") return;
    const { storeKey: store } = call.served;
    if (isWrite(exchange.request)) {
      if (status >= 300 || exchange.place === undefined) return;
      const gone = isRemoved(call.verb, answer);
      const object = gone ? undefined : asSeen(call, answer);
      const key = gone ? exchange.place.key : keyOfObject(call, answer);
      if (!gone) exchange.place = this.#history.place(store, key);
      this.#history.see({ store, key, object, at, by: exchange });
    } else if (call.verb === "get") {
      if (status === 404)
        this.#history.see({ store, key: keyOfCall(call, call.name), object: undefined, at });
      else if (status < 300)
        this.#history.see({
          store,
          key: keyOfCall(call, call.name),
          object: asSeen(call, answer),
          at,
        });
    } else if (status < 300) this.#list(call, answer, at);
    if (status < 300 && !isWrite(exchange.request)) exchange.text = ""; // reads are done anew
  }

  #list(call: ApiCall, answer: JsonObject, at: number): void {
    const { storeKey: store } = call.served;
    const token = call.query.get("continue") ?? "";
    const keys = new Set(this.#pages.get(token));
    for (const item of itemsOf(answer) ?? []) {
      const key = keyOfObject(call, item);
      keys.add(key);
      this.#history.see({ store, key, object: asSeen(call, item), at });
    }
    const number = numberOf(answer);
    this.first = Math.min(this.first, number);
    const next = own(metadataOf(answer), "continue");
    if (typeof next === "string" && next !== "") {
      this.#pages.set(next, keys);
      return;
    }
    const selection = this.#selection(call);
    for (const key of selection)
      if (!keys.has(key)) this.#history.see({ store, key, object: undefined, number, at });
    selection.clear();
    for (const key of keys) selection.add(key);
  }

  #selection({ served, namespace = "", query }: ApiCall): Set<string> {
    const selectors = ["labelSelector", "fieldSelector"].map((name) => query.get(name));
    const id = JSON.stringify([served.storeKey, namespace, ...selectors]);
    const keys = this.#selected.get(id) ?? new Set();
    this.#selected.set(id, keys);
    return keys;
  }
}

/** An item of a list has no kind, and an object without its fields has another one. */
function asSeen({ served: { apiVersion, kind } }: ApiCall, object: JsonObject): JsonObject {
  return { ...object, apiVersion, kind };
}

function keyOfObject(call: ApiCall, object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  const where = typeof namespace === "string" ? namespace : undefined;
  return keyOfCall({ ...call, namespace: where }, `${name}`);
}
