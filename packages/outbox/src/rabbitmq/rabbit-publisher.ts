import { abortable, type Clock, onAbort, realClock } from "@holdfast/clock";
import {
  func,
  type Kinds,
  kind,
  loopClock,
  parsed,
  read,
  requireAnswer,
  requireBetween,
  requireBoolean,
  required,
  requireString,
  requireWhole,
} from "@holdfast/kit";
import { type BackoffOptions, type BackoffStrategy, jitter, type Random } from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { strategyOf } from "@holdfast/wait/strategies";
import type { Message } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";
import type { RabbitChannel } from "./rabbit-channel.ts";
import { RabbitSession } from "./rabbit-session.ts";
import { type RabbitTls, secureContextOf } from "./rabbit-tls.ts";
import type { Route } from "./unroutable-error.ts";

export const RABBIT_PUBLISHER_OPTIONS: Kinds<RabbitPublisherOptions> = {
  url: required(parsed("amqpUrl")),
  tls: parsed("tls"),
  route: func,
  mandatory: kind("mandatory", requireMandatory),
  channels: kind("channels", requireChannels),
  backoff: parsed("backoff"),
  onError: func,
  clock: loopClock,
  random: func,
};

/** In seconds, as AMQP has it: a connection that is silent for twice as long is lost. */
const HEARTBEAT = "10";

/** The most channels that RabbitMQ allows by default. */
const MOST_CHANNELS = 2_047;

/** Options for {@link RabbitPublisher}. */
export interface RabbitPublisherOptions {
  /**
   * An amqp or amqps URL, or those of several nodes of a cluster. Its query may set `heartbeat`, in seconds; 10 if it does
   * not.
   *
   * Several are shuffled once, so that many publishers spread over the nodes, and then tried in turn: each attempt takes the
   * next one, also after a connection was lost.
   */
  readonly url: string | readonly string[];

  /**
   * The certificates of a connection; every URL is an amqps one then.
   *
   * @defaultValue the authorities that Node trusts, and no certificate of this side
   */
  readonly tls?: RabbitTls | undefined;

  /**
   * Returns the exchange and routing key of a message. If it throws, the attempt fails.
   *
   * @defaultValue the default exchange, with the topic as the routing key: the topic is the name of a queue
   */
  readonly route?: ((message: Message) => Route) | undefined;

  /**
   * Whether a message that no queue is bound for is an error, or a function that says so of a message. False suits an event
   * that nobody may want: then the broker confirms it and drops it. A missing exchange is an error in any case.
   *
   * @defaultValue `true`
   */
  readonly mandatory?: boolean | ((message: Message) => boolean) | undefined;

  /**
   * The maximum number of channels, and so of messages in flight. Further messages wait for a channel.
   * Whole, from 1 to 2,047. At least the number of workers of the relay. If the broker allows fewer, the
   * publisher uses those.
   *
   * @defaultValue `128`
   */
  readonly channels?: number | undefined;

  /**
   * The delays between attempts to connect, from one start to the next.
   *
   * @defaultValue gRPC's: 1 s, growing by 1.6 up to 120 s, and up to 20 % more or less
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Receives the error that ended a connection, and that of each failed attempt to connect. The publisher
   * goes on, unless this function throws: then `publish` and the disposal reject with that error.
   *
   * @defaultValue none
   */
  readonly onError?: ((error: unknown) => void) | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of randomness for the order of several URLs, for the delays, and for their jitter unless `backoff` has its own.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Publishes to RabbitMQ, or another broker of AMQP 0-9-1 that confirms. The property `messageId` holds
 * the id of the message: consumers recognize a duplicate by it. `type` is its topic, `headers` are its own.
 *
 * It connects when it is made, and again whenever the connection is lost, until it is disposed.
 *
 * | Event | `publish` |
 * | --- | --- |
 * | the broker confirms | resolves: a durable queue has the message on its disk, a quorum queue on those of most of its nodes |
 * | there is no such exchange, or no queue is bound for the routing key of a `mandatory` message | rejects with an {@link UnroutableError}: either may still be declared |
 * | the broker refuses with a channel error: 403, no right to write there, or 406, too large | rejects with a {@link RefusedError}; the broker does not have the message |
 * | the broker rejects the message (`basic.nack`: a queue is full), or the connection ends before the confirmation | rejects with an {@link UnconfirmedError}; the message may have arrived |
 * | message cannot be encoded | rejects with a `TerminalError`; nothing was sent |
 * | there is no connection, or no channel is free | waits for one |
 * | the broker blocks publishers: an alarm of memory or disk | waits until it is over, and sends nothing meanwhile; messages already in flight wait for their confirmations |
 * | `signal` aborts | rejects at once with `signal.reason`; a message that still waits is not sent |
 * | the publisher is disposed | rejects at once; a message in flight may have arrived |
 *
 * Each message in flight has a channel to itself. A broker refuses a message by closing the
 * channel, so such a message neither fails, delays nor duplicates another.
 *
 * A wait counts towards the `publishTimeout` of a relay, and its end counts as a failed attempt: an alarm
 * that outlasts all attempts of a message makes it dead. Replay dead messages afterwards.
 *
 * It declares nothing: exchanges and queues belong to their consumers.
 *
 * @example
 * ```ts no-run
 * import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
 *
 * await using publisher = new RabbitPublisher({
 *   url: "amqp://127.0.0.1",
 *   route: ({ topic }) => ({ exchange: "shop", routingKey: topic }),
 *   onError: (error) => console.error("RabbitMQ:", error),
 * });
 * ```
 */
export class RabbitPublisher implements Publisher, AsyncDisposable {
  readonly #publications = new Publications();
  readonly #route: (message: Message) => Route;
  readonly #mandatory: boolean | ((message: Message) => boolean);
  readonly #kept: Promise<void>;
  /** Publications that wait for a channel, the earliest first. */
  readonly #waiting = new Set<(channel: Promise<RabbitChannel | undefined>) => void>();
  #session: RabbitSession | undefined;

  /** @throws RangeError or TypeError that names the option */
  constructor(options: RabbitPublisherOptions) {
    const given = read("options", options, "RabbitPublisher", RABBIT_PUBLISHER_OPTIONS);
    const { url, tls, channels = 128, backoff, onError, clock = realClock } = given;
    const { route = defaultRoute, mandatory = true, random } = given;
    const security = tls === undefined ? undefined : secureContextOf(tls);
    const addresses = addressesOf(url, tls !== undefined)
      .map((address) => ({ address, place: jitter(1, 1, random) }))
      .toSorted((one, other) => one.place - other.place);
    const strategy = backoff === undefined ? undefined : strategyOf("options.backoff", backoff);
    this.#route = route;
    this.#mandatory = mandatory;
    const parts = { security, clock, channels, onAvailable: () => this.#serve() };
    let attempts = 0;
    this.#kept = keepConnected(
      ({ signal }) => {
        const { address } = addresses[attempts++ % addresses.length] as { address: string };
        return RabbitSession.open({ ...parts, url: address, signal });
      },
      async (session, signal) => {
        const lost = await this.#use(session, signal);
        if (lost !== undefined) onError?.(lost);
      },
      {
        signal: this.#publications.signal,
        backoff: strategy,
        clock,
        random,
        onRetry: ({ error }) => onError?.(error),
        onLate: (session) => session.close(),
      },
    );
    this.#kept.catch((error: unknown) => this.#publications.end(error));
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run((own) => this.#deliver(message, own), signal);
  }

  /** Closes the connection. Publications that have not ended are rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
    await this.#kept;
  }

  /** Serves until the session ends. Returns the reason, or undefined if it was closed. */
  async #use(session: RabbitSession, signal: AbortSignal): Promise<Error | undefined> {
    this.#session = session;
    this.#serve();
    try {
      return await abortable(() => session.ended, signal);
    } catch {
      return undefined;
    } finally {
      this.#session = undefined;
      await session.close();
    }
  }

  async #deliver(message: Message, signal: AbortSignal): Promise<void> {
    const mandatory = this.#mandatory;
    const publication = {
      message,
      route: this.#route(message),
      isMandatory:
        typeof mandatory === "function"
          ? requireAnswer("options.mandatory(message)", mandatory(message))
          : mandatory,
      body: Buffer.from(bodyOf(message)),
    };
    for (;;) {
      const channel = await this.#channel(signal);
      if (channel === undefined) continue; // Nothing was sent.
      if (!signal.aborted) return await channel.publish(publication, signal);
      channel.release();
      return;
    }
  }

  /** Waits for a channel; undefined if it closed before it could be used. */
  async #channel(signal: AbortSignal): Promise<RabbitChannel | undefined> {
    signal.throwIfAborted();
    const acquired = new Promise<RabbitChannel | undefined>((resolve, reject) => {
      const take = (channel: Promise<RabbitChannel | undefined>): void => {
        leave();
        resolve(channel);
      };
      const subscription = onAbort(signal, (reason) => {
        leave();
        reject(reason);
      });
      const leave = (): void => {
        this.#waiting.delete(take);
        subscription[Symbol.dispose]();
      };
      this.#waiting.add(take);
      this.#serve();
    });
    const channel = await acquired;
    return channel?.isOpen ? channel : undefined;
  }

  /** Passes channels to the publications that wait, as long as there are any. */
  #serve(): void {
    for (const take of this.#waiting) {
      if (this.#session?.isAvailable !== true) return;
      take(this.#session.acquire());
    }
  }
}

function defaultRoute({ topic }: Message): Route {
  return { exchange: "", routingKey: topic };
}

function requireChannels(path: string, channels: number): void {
  requireWhole(path, requireBetween(path, channels, 1, MOST_CHANNELS), 1);
}

function requireMandatory(path: string, mandatory: unknown): void {
  if (typeof mandatory !== "function") requireBoolean(path, mandatory as boolean);
}

function addressesOf(url: string | readonly string[], isSecure: boolean): readonly string[] {
  if (!Array.isArray(url)) return [addressOf("options.url", url as string, isSecure)];
  if (url.length === 0) throw new RangeError("options.url must hold at least one URL");
  return url.map((one, index) => addressOf(`options.url[${index}]`, one, isSecure));
}

/** Errors do not repeat it: it may contain a password. */
function addressOf(option: string, url: string, isSecure: boolean): string {
  requireString(option, url);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^amqps?:$/.test(address.protocol))
    throw new RangeError(`${option} must be an amqp or amqps URL`);
  if (isSecure && address.protocol !== "amqps:")
    throw new RangeError(`${option} must be an amqps URL, as options.tls is given`);
  if (!address.searchParams.has("heartbeat")) address.searchParams.set("heartbeat", HEARTBEAT);
  return address.href;
}
