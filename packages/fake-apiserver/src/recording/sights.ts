import type { Line } from "@holdfast/controller/recording";
import { isObject, type JsonObject, metadataOf, own, parseJson } from "../object/json.ts";
import { type ApiCall, keyOfCall } from "../server/request/api-call.ts";
import { type Exchange, isWatch, isWrite, type Place, statusOf } from "./exchange.ts";
import { type History, isRemoved, itemsOf, numberOf } from "./history.ts";

/** Reads objects out of answers. */
export class Sights {
  readonly #history: History;
  /** The keys of the lists and watches of one selection. */
  readonly #selected = new Map<string, Set<string>>();
  /** Keys of the pages of a list that has more. */
  readonly #pages = new Map<string, Set<string>>();
  /** The version of the first list. */
  first: number = Number.POSITIVE_INFINITY;

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
    exchange.isCut = !isObject(answer);
    if (!isObject(answer) || call.subresource === "scale") return;
    const isDone = statusOf(exchange) < 300;
    if (!isWrite(exchange.request)) {
      if (isDone) exchange.text = ""; // reads are done anew
      this.#read(call, isDone ? answer : undefined, { at, status: statusOf(exchange) });
    } else if (isDone && exchange.place) this.#written(exchange, exchange.place, answer, at);
  }

  #read(call: ApiCall, answer: JsonObject | undefined, { at, status }: Answered): void {
    if (call.verb === "list") {
      if (answer !== undefined) this.#list(call, answer, at);
    } else if (answer !== undefined || status === 404) {
      const object = answer && asSeen(call, answer);
      const { storeKey: store } = call.served;
      this.#history.see({ store, key: keyOfCall(call, call.name), object, at });
    }
  }

  #written(exchange: Exchange, place: Place, answer: JsonObject, at: number): void {
    const call = exchange.call as ApiCall;
    const { store } = place;
    const isGone = isRemoved(call.verb, answer);
    const key = isGone ? place.key : keyOfObject(call, answer);
    if (!isGone) exchange.place = this.#history.place(store, key); // its name may be generated
    const object = isGone ? undefined : asSeen(call, answer);
    this.#history.see({ store, key, object, at, by: exchange });
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

/** An answer to a read. */
interface Answered {
  readonly at: number;
  readonly status: number;
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
