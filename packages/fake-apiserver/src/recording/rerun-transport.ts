import { type Clock, onAbort } from "@holdfast/clock";
import {
  ConnectionError,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { isObject, metadataOf, parseJson } from "../object/json.ts";
import { readRequest } from "../server/request/read-request.ts";
import { type Exchange, isFault, isOfResource, isWatch, keyOf } from "./exchange.ts";
import type { Incident } from "./incident.ts";
import { once, type RerunApi } from "./rerun-api.ts";

/** Milliseconds by which a request may come earlier than the recorded one. */
const EARLY = 100;

/** Milliseconds by which a request may come later than the recorded one whose fault it meets. */
const LATE = 10_000;

/** The reason for which a watch ends as recorded. */
const ENDED = new Error("the watch has ended");

export interface RerunTransportOptions {
  readonly incident: Incident;
  readonly api: RerunApi;
  readonly clock: Clock;
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
    const { api, incident } = this.#options;
    const now = api.time;
    const recorded = this.#recordedOf(request, now);
    const fault =
      recorded === undefined ? this.#outage(now) : isFault(recorded) ? recorded : undefined;
    const { done, answered, end } = this.#instants(recorded ?? fault, now);
    await this.#until(done, signal);
    await request.beforeSend?.();
    if (fault !== undefined) {
      if (fault.version !== undefined && fault === recorded) {
        await api.carryOut(request, recorded, signal);
        this.#options.onAnswer(request, 200);
      }
      await this.#until(answered, signal);
      if (fault.error !== undefined) throw errorOf(fault, request, this.description);
      return responseOf(fault);
    }
    if (readRequest(request, incident.served).call === undefined) {
      const known = recorded ?? this.#latest.get(keyOf(request, this.#start));
      await this.#until(answered, signal);
      if (known !== undefined) {
        this.#options.onAnswer(request, known.head?.status ?? 500);
        return responseOf(known);
      }
      if (isOfResource(request.path)) this.unserved ??= request.path;
      return await api.transport.send(request, signal);
    }
    const connection = new AbortController();
    const subscription = onAbort(signal, (reason) => connection.abort(reason));
    const response = await api.carryOut(request, recorded, connection.signal);
    this.#options.onAnswer(request, response.status);
    await this.#until(answered, connection.signal);
    if (!/[?&]watch=/.test(request.path)) {
      subscription[Symbol.dispose]();
      return response;
    }
    const body = this.#events(response, { recorded, end, request, connection, subscription });
    return { ...response, body };
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
      (one.error !== undefined || (one.head?.status ?? 0) >= 500) &&
      isFault(one);
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

  async #until(instant: number, signal: AbortSignal): Promise<void> {
    const { clock, api } = this.#options;
    const delay = Math.max(0, instant - api.time);
    await clock.sleep(delay, { signal, label: "answer of a rerun" });
  }

  /** The events of a watch, each not before it was seen. */
  async *#events(response: KubeResponse, watch: Watch): AsyncGenerator<Uint8Array, undefined> {
    const { recorded, end, connection, request } = watch;
    const { api } = this.#options;
    const ends = end === undefined ? undefined : api.at(end, () => connection.abort(ENDED));
    try {
      for await (const chunk of response.body)
        for (const line of `${Buffer.from(chunk)}`.split("\n").filter(Boolean)) {
          await this.#until(this.#seenAt(line), connection.signal);
          yield Buffer.from(`${line}\n`);
        }
    } catch (error) {
      if (error !== ENDED) throw error;
      yield* once(recorded?.text ?? "");
      if (recorded?.error !== undefined) throw errorOf(recorded, request, this.description);
    } finally {
      ends?.stop();
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

function responseOf({ head, text }: Exchange): KubeResponse {
  const { status = 500, headers = {} } = head ?? {};
  return { status, headers: headers as KubeResponse["headers"], body: once(text) };
}

function errorOf({ error }: Exchange, request: KubeRequest, description: string): ConnectionError {
  const cause = Object.assign(new Error(`${error?.["message"]}`), { code: error?.["code"] });
  return new ConnectionError(request, description, cause);
}
