import { onAbort } from "@holdfast/clock";
import {
  ConnectionError,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { isObject, metadataOf, parseJson } from "../object/json.ts";
import { readRequest } from "../server/request/read-request.ts";
import { type Exchange, isFault, isWatch, keyOf, statusOf } from "./exchange.ts";
import type { Incident } from "./incident.ts";
import { isOfResource } from "./recorded-resources.ts";
import { once, type RerunApi, responseOf } from "./rerun-api.ts";

/** Milliseconds by which a request may come earlier than the recorded one. */
const EARLY = 100;

/** Milliseconds by which a request may come later than the recorded one whose fault it meets. */
const LATE = 10_000;

/** The reason for which a watch ends as recorded. */
const ENDED = new Error("the watch has ended");

export interface RerunTransportOptions {
  readonly incident: Incident;
  readonly api: RerunApi;
  /** Draws how much later answers and events come, in milliseconds. Undefined: at the recorded instants. */
  readonly lateBy: ((duration: number) => number) | undefined;
  /** Called for each request when it is answered. */
  readonly onAnswer: (request: KubeRequest, status: number) => void;
}

/** The way of a program to the server of an incident: answers, faults and events come as they were recorded. */
export class RerunTransport implements KubeTransport {
  readonly description: string;
  readonly #options: RerunTransportOptions;
  /** Recorded requests that were not made yet, by their key. */
  readonly #left = new Map<string, Exchange[]>();
  /** The latest of each key. */
  readonly #latest = new Map<string, Exchange>();
  readonly #start: number;
  readonly #latency: number;
  /** A resource that the server does not have. */
  unserved: string | undefined;

  constructor(description: string, options: RerunTransportOptions) {
    const { head, exchanges } = options.incident;
    this.description = description;
    this.#options = options;
    this.#start = options.incident.wallOf(head.mono);
    for (const exchange of exchanges) {
      const key = keyOf(exchange.request, this.#start);
      const same = this.#left.get(key);
      if (same === undefined) this.#left.set(key, [exchange]);
      else same.push(exchange);
    }
    const durations = exchanges
      .filter((one) => !isWatch(one) && one.end !== undefined)
      .map(({ at, end = 0 }) => end - at);
    this.#latency = Math.max(1, durations.toSorted((a, b) => a - b)[durations.length >> 1] ?? 1);
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const { api, incident, onAnswer } = this.#options;
    const now = api.time;
    const recorded = this.#recordedOf(request, now);
    const known = recorded ?? this.#outage(now);
    const times = this.#instants(known, now);
    await api.until(times.done, signal);
    await request.beforeSend?.();
    if (known !== undefined && isFault(known)) {
      if (known === recorded) await this.#doLost(request, recorded, signal);
      await api.until(times.answered, signal);
      if (known.error !== undefined) throw errorOf(known, request, this.description);
      return responseOf(known);
    }
    const { call } = readRequest(request, incident.served);
    if (call === undefined) return await this.#unknown(request, recorded, signal);
    const connection = new AbortController();
    const subscription = onAbort(signal, (reason) => connection.abort(reason));
    const response = await api.carryOut(request, recorded, connection.signal);
    onAnswer(request, response.status);
    await api.until(times.answered, connection.signal);
    if (call.verb === "watch") {
      const watch = { recorded, end: times.end, request, connection, subscription };
      return { ...response, body: this.#events(response, watch) };
    }
    subscription[Symbol.dispose]();
    return response;
  }

  /** A write whose answer was lost. */
  async #doLost(request: KubeRequest, recorded: Exchange, signal: AbortSignal): Promise<void> {
    if (recorded.version === undefined) return;
    await this.#options.api.carryOut(request, recorded, signal);
    this.#options.onAnswer(request, 200);
  }

  /** A request that is about no resource: the server has no other answer than the recorded one. */
  async #unknown(
    request: KubeRequest,
    recorded: Exchange | undefined,
    signal: AbortSignal,
  ): Promise<KubeResponse> {
    const known = recorded ?? this.#latest.get(keyOf(request, this.#start));
    if (known === undefined) {
      if (isOfResource(request.path)) this.unserved ??= request.path;
      return await this.#options.api.transport.send(request, signal);
    }
    this.#options.onAnswer(request, statusOf(known));
    return responseOf(known);
  }

  /** The recorded request that this one is. */
  #recordedOf(request: KubeRequest, now: number): Exchange | undefined {
    const key = keyOf(request, this.#start);
    const left = this.#left.get(key) ?? [];
    for (;;) {
      const [first] = left;
      if (first === undefined || first.at > now + EARLY) return undefined;
      left.shift();
      this.#latest.set(key, first);
      const { version, end = Number.POSITIVE_INFINITY } = first;
      const isPast = version ? this.#options.api.hasPassed(first) : end < now - LATE;
      if (!isPast) return first;
    }
  }

  /** The last request before an instant, if that and the next one met a fault: so does every request between. */
  #outage(now: number): Exchange | undefined {
    const { exchanges } = this.#options.incident;
    const next = exchanges.findIndex(({ at }) => at > now);
    const [before, after] = [exchanges[next - 1], exchanges[next]];
    const isDown = (one: Exchange | undefined): boolean =>
      one !== undefined &&
      isFault(one) &&
      (one.error !== undefined || (one.head?.status ?? 0) >= 500);
    return isDown(before) && isDown(after) ? before : undefined;
  }

  /** When a request is done, answered and ended. One that comes before the recorded one is answered with it. */
  #instants(recorded: Exchange | undefined, now: number) {
    const late = this.#options.lateBy ?? (() => 0);
    if (recorded === undefined) {
      const answered = now + this.#latency + late(this.#latency);
      return { done: answered, answered, end: undefined };
    }
    const { at, end, head, version } = recorded;
    const placed = (instant = Number.POSITIVE_INFINITY): number =>
      instant >= now ? instant : now + instant - at;
    const last = isWatch(recorded) ? head?.at : end;
    const answered = placed(last);
    const later = late(Math.min(answered - now, 1_000));
    const done = version === undefined ? answered : Math.min(answered, Math.max(now, version.at));
    return { done: done + later, answered: answered + later, end: end && placed(end) };
  }

  /** The events of a watch, each not before it was seen. */
  async *#events(response: KubeResponse, watch: Watch): AsyncGenerator<Uint8Array, undefined> {
    const { recorded, end = Number.POSITIVE_INFINITY, connection, request } = watch;
    const { api } = this.#options;
    const ends = api.at(end, () => connection.abort(ENDED));
    try {
      for await (const chunk of response.body)
        for (const line of `${Buffer.from(chunk)}`.split("\n").filter(Boolean)) {
          await api.until(this.#seenAt(line), connection.signal);
          yield Buffer.from(`${line}\n`);
        }
    } catch (error) {
      if (error !== ENDED || recorded === undefined) throw error;
      yield* once(recorded.text);
      if (recorded.error !== undefined) throw errorOf(recorded, request, this.description);
    } finally {
      ends.stop();
      watch.subscription[Symbol.dispose]();
    }
  }

  #seenAt(line: string): number {
    const { api, lateBy = () => 0 } = this.#options;
    const event = parseJson(line);
    const object = isObject(event) && isObject(event["object"]) ? event["object"] : {};
    const seen = api.watchedAt.get(`${metadataOf(object)["resourceVersion"]}`) ?? api.time;
    return Math.max(seen, api.time) + lateBy(1);
  }
}

/** A watch that has begun. */
interface Watch {
  readonly recorded: Exchange | undefined;
  readonly end: number | undefined;
  readonly request: KubeRequest;
  readonly connection: AbortController;
  readonly subscription: Disposable;
}

function errorOf({ error }: Exchange, request: KubeRequest, description: string): ConnectionError {
  const cause = Object.assign(new Error(`${error?.["message"]}`), { code: error?.["code"] });
  return new ConnectionError(request, description, cause);
}
