import { type Clock, onAbort, realClock } from "@holdfast/clock";
import { type BackoffOptions, type BackoffStrategy, keepConnected } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { unlessAborted } from "../unless-aborted.ts";
import type { Publisher } from "./publisher.ts";
import { RabbitSession } from "./rabbit-session.ts";

/** In seconds, as AMQP has it: a connection that is silent for twice as long is lost. */
const HEARTBEAT = "10";

/** How a {@link RabbitPublisher} connects. */
export interface RabbitPublisherOptions {
  /** An amqp or amqps URL. Its query may set `heartbeat`, in seconds; 10 if it does not. */
  readonly url: string;

  /**
   * The delays between attempts to connect, from one start to the next.
   *
   * @defaultValue gRPC's: 1 s, growing by 1.6 up to 120 s, and up to 20 % more or less
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Gets what ended a connection, and what each attempt to connect failed with. The publisher goes on,
   * unless this function throws: then that is what `publish` and the disposal reject with.
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
}

/**
 * Publishes to RabbitMQ, or another broker of AMQP 0-9-1 that confirms. The property `messageId` holds
 * the id of the message: by it the consumer knows one that comes twice.
 *
 * It connects when it is made, and again whenever the connection is lost, until it is disposed of.
 *
 * | What happens | `publish` |
 * | --- | --- |
 * | the broker confirms | resolves: a durable queue has the message on its disk |
 * | the broker refuses, or the connection ends before it has confirmed | rejects with an `UnconfirmedError`; the message may have arrived |
 * | there is no such exchange, or no queue is bound for the routing key | rejects with an `UnroutableError`: somebody may still declare it |
 * | there is no connection | waits for one |
 * | `signal` aborts | rejects at once with `signal.reason`; what still waits for a connection is not sent any more |
 *
 * It declares nothing: exchanges and queues are those who consume them to make.
 */
export class RabbitPublisher implements Publisher {
  readonly #stop = new AbortController();
  readonly #kept: Promise<void>;
  readonly #waiting = new Set<(session: RabbitSession) => void>();
  #session: RabbitSession | undefined;

  /**
   * @param options - see {@link RabbitPublisherOptions}
   * @throws RangeError if the URL is none, or neither amqp nor amqps
   */
  constructor({ url, backoff, onError, clock = realClock }: RabbitPublisherOptions) {
    const address = addressOf(url);
    const use = async (session: RabbitSession, signal: AbortSignal): Promise<void> => {
      const lost = await this.#use(session, signal);
      if (lost !== undefined) onError?.(lost);
    };
    this.#kept = keepConnected(
      ({ signal }) => RabbitSession.open({ url: address, clock, signal }),
      use,
      {
        signal: this.#stop.signal,
        backoff,
        clock,
        onRetry: ({ error }) => onError?.(error),
        onLate: (session) => session.close(),
      },
    );
    this.#kept.catch((error: unknown) => this.#stop.abort(error));
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#stop.signal.throwIfAborted();
    const session = this.#session ?? (await this.#connected(signal));
    await unlessAborted(session.publish(message), signal);
  }

  /** Closes the connection. What waits for one is rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the publisher is closed"));
    await this.#kept;
  }

  /** Serves until the session ends; says why it did, if that was not its close. */
  async #use(session: RabbitSession, signal: AbortSignal): Promise<Error | undefined> {
    this.#session = session;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go(session);
    try {
      return await unlessAborted(session.ended, signal);
    } catch {
      return undefined;
    } finally {
      this.#session = undefined;
      await session.close();
    }
  }

  #connected(signal: AbortSignal): Promise<RabbitSession> {
    return new Promise((resolve, reject) => {
      const go = (session: RabbitSession): void => {
        leave();
        resolve(session);
      };
      const giveUp = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      this.#waiting.add(go);
      const subscriptions = [onAbort(signal, giveUp), onAbort(this.#stop.signal, giveUp)];
      const leave = (): void => {
        this.#waiting.delete(go);
        for (const subscription of subscriptions) subscription[Symbol.dispose]();
      };
    });
  }
}

function addressOf(url: string): string {
  if (!URL.canParse(url) || !/^amqps?:$/.test(new URL(url).protocol))
    throw new RangeError("options.url must be an amqp or amqps URL");
  const address = new URL(url);
  if (!address.searchParams.has("heartbeat")) address.searchParams.set("heartbeat", HEARTBEAT);
  return address.href;
}
