import { func, type Kinds, read, requireMethods } from "@holdfast/kit";
import { TerminalError } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";
import { RefusedError } from "../publisher/refused-error.ts";
import { UnconfirmedError } from "../publisher/unconfirmed-error.ts";

export const KAFKA_PUBLISHER_OPTIONS: Kinds<KafkaPublisherOptions> = { topic: func };

/** All replicas in sync have a message before it counts. */
const ALL = -1;

/** Sends of the client for one attempt, after the first: the relay has a schedule of its own. */
const RETRIES = 2;

/** The name of a topic, as Kafka allows it. */
const TOPIC = /^(?!\.{1,2}$)[\w.-]{1,249}$/;

/** The header that holds the id of a message. */
const ID = "idempotency-key";

/**
 * Error codes of Kafka with which it keeps nothing: corrupt, no such topic, too large, invalid topic, batch too large, not
 * allowed for the topic or the cluster, against a policy, invalid record.
 */
const REFUSED = new Set([2, 3, 10, 17, 18, 29, 31, 44, 87]);

/** Options of a producer, as kafkajs has them. */
export interface KafkaProducerOptions {
  /** Whether the broker recognizes a message that the producer sends again. */
  readonly idempotent: boolean;
  /** Whether a missing topic is created. */
  readonly allowAutoTopicCreation: boolean;
  /** How often it sends again. */
  readonly retry: {
    /** The sends after the first. */
    readonly retries: number;
  };
}

/** Messages of one topic, as kafkajs has them. */
export interface KafkaRecord {
  /** The topic. */
  readonly topic: string;
  /** The replicas that must have the messages; -1 stands for all that are in sync. */
  readonly acks: number;
  /** The messages. */
  messages: {
    /** Chooses the partition. */
    key: string;
    /** The body. */
    value: string;
    /** Names and values beside it. */
    headers: Record<string, string>;
  }[];
}

/** A producer of kafkajs. */
export interface KafkaProducer {
  /** Connects. */
  connect(): Promise<void>;
  /** Sends messages, and resolves when they are acknowledged. */
  send(record: KafkaRecord): Promise<unknown>;
  /** Closes its connections. */
  disconnect(): Promise<void>;
}

/** The part of a `Kafka` of kafkajs that a publisher uses. */
export interface KafkaClient {
  /** Makes a producer. */
  producer(options: KafkaProducerOptions): KafkaProducer;
}

/** Options for {@link KafkaPublisher}. */
export interface KafkaPublisherOptions {
  /**
   * Returns the topic of Kafka for a message. If it throws, the attempt fails.
   *
   * @defaultValue the topic of the message
   */
  readonly topic?: ((message: Message) => string) | undefined;
}

/**
 * Publishes to Kafka through kafkajs, as JSON with the headers of the message. The key of the message chooses the partition,
 * and the header `idempotency-key` holds its id: consumers recognize a duplicate by it. All replicas in sync must have
 * a message before it is confirmed, and producers are idempotent. Topics are never created.
 *
 * | Event | `publish` |
 * | --- | --- |
 * | all replicas in sync acknowledge | resolves |
 * | the broker refuses: no such topic, no right to write there, too large, against a policy | rejects with a {@link RefusedError} of its code |
 * | no broker is reached, or none acknowledges | rejects with an {@link UnconfirmedError}; the message may have arrived |
 * | it is not JSON, or its topic is none of Kafka | rejects with a `TerminalError`; nothing was sent |
 * | `signal` aborts, or the publisher is disposed | rejects at once; the message may have arrived |
 *
 * Each message in flight has a producer to itself, so there are at most as many as `workers` of the relay. A producer
 * whose send failed is closed: kafkajs uses the number of the failed message again, and a broker that has that one would
 * take the next one for its duplicate, confirm it and drop it.
 *
 * The client is yours: its brokers, TLS, credentials and log. It warns of limited retries for each producer; the relay
 * repeats instead.
 *
 * @example
 * ```ts no-run
 * import { KafkaPublisher } from "@holdfast/outbox/kafka";
 * import { Kafka } from "kafkajs";
 *
 * const kafka = new Kafka({ clientId: "shop", brokers: ["kafka-1:9092"], ssl: true, retry: { retries: 2 } });
 * await using publisher = new KafkaPublisher(kafka, { topic: ({ topic }) => `shop.${topic}` });
 * ```
 */
export class KafkaPublisher implements Publisher, AsyncDisposable {
  readonly #publications = new Publications();
  readonly #client: KafkaClient;
  readonly #topic: (message: Message) => string;
  readonly #idle: KafkaProducer[] = [];
  readonly #all = new Set<KafkaProducer>();

  /**
   * @param client - a `Kafka` of kafkajs
   * @throws RangeError or TypeError that names the option
   */
  constructor(client: KafkaClient, options: KafkaPublisherOptions = {}) {
    requireMethods("client", client, ["producer"]);
    const given = read("options", options, "KafkaPublisher", KAFKA_PUBLISHER_OPTIONS);
    const { topic = (message) => message.topic } = given;
    this.#client = client;
    this.#topic = topic;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run((own) => this.#deliver(message, own), signal);
  }

  /** Rejects publications that have not ended, and closes the connections of all producers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
    await Promise.all([...this.#all].map((producer) => this.#close(producer)));
  }

  async #deliver(message: Message, signal: AbortSignal): Promise<void> {
    const record = this.#recordOf(message);
    const producer = this.#idle.pop() ?? (await this.#connected(signal));
    try {
      await producer.send(record);
    } catch (error) {
      await this.#close(producer);
      throw failureOf(error as Error);
    }
    if (signal.aborted) await this.#close(producer);
    else this.#idle.push(producer);
  }

  async #connected(signal: AbortSignal): Promise<KafkaProducer> {
    const producer = this.#client.producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      retry: { retries: RETRIES },
    });
    this.#all.add(producer);
    try {
      await producer.connect();
      signal.throwIfAborted(); // Nobody waits for the message any more.
      return producer;
    } catch (error) {
      await this.#close(producer);
      throw signal.aborted ? signal.reason : failureOf(error as Error);
    }
  }

  async #close(producer: KafkaProducer): Promise<void> {
    this.#all.delete(producer);
    await producer.disconnect().catch(() => undefined);
  }

  #recordOf(message: Message): KafkaRecord {
    const value = bodyOf(message);
    const topic = this.#topic(message);
    if (typeof topic !== "string" || !TOPIC.test(topic))
      throw new TerminalError(
        "message has no valid topic: 1 to 249 letters, digits, dots, dashes and underscores",
      );
    const own = Object.entries(message.headers).filter(([name]) => name.toLowerCase() !== ID);
    const headers = { "content-type": "application/json", ...Object.fromEntries(own) };
    return {
      topic,
      acks: ALL,
      messages: [{ key: message.key, value, headers: { ...headers, [ID]: message.id } }],
    };
  }
}

/** The error of the broker is the first of the causes that has a code. */
function failureOf(error: Error): Error {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code, type } = cause as { readonly code?: unknown; readonly type?: unknown };
    if (typeof code === "number" && typeof type === "string" && REFUSED.has(code))
      return new RefusedError(code, { reason: type, cause: error });
  }
  return new UnconfirmedError(error.message, { cause: error });
}
