import type {
  KafkaClient,
  KafkaProducer,
  KafkaProducerOptions,
  KafkaRecord,
} from "@holdfast/outbox/kafka";

/** A message as the broker has it. */
export interface Stored {
  readonly topic: string;
  readonly key: string;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** What kafkajs rejects with for an error code of the broker. */
export class ProtocolError extends Error {
  override readonly name = "KafkaJSProtocolError";
  readonly code: number;
  readonly type: string;

  constructor(code: number, type: string) {
    super(`The broker said ${type}`);
    this.code = code;
    this.type = type;
  }
}

/**
 * A double of kafkajs and of a broker, no real one: it keeps to the two rules that a publisher can lose messages by. The
 * broker drops a message whose producer and number it has seen, and acknowledges it. The producer numbers messages by
 * what was acknowledged: after a failure it uses a number again, and two sends at a time have the same.
 */
export class FakeKafka implements KafkaClient {
  readonly stored: Stored[] = [];
  readonly options: KafkaProducerOptions[] = [];
  readonly records: KafkaRecord[] = [];
  /** Producers that are connected. */
  readonly connected = new Set<KafkaProducer>();
  /** Called with each message that arrives, before it is stored. */
  onSend: (topic: string) => void = () => undefined;
  /** Called after a message was stored, before its producer hears of it. */
  onStored: () => Promise<void> | void = () => undefined;
  onConnect: () => Promise<void> | void = () => undefined;

  producer(options: KafkaProducerOptions): KafkaProducer {
    this.options.push(options);
    const seen = new Set<number>();
    let next = 0;
    const producer: KafkaProducer = {
      connect: async () => {
        await this.onConnect();
        this.connected.add(producer);
      },
      send: async (record) => {
        if (!this.connected.has(producer)) throw new Error("The producer is disconnected");
        const number = next;
        this.records.push(record);
        await null; // on its way
        this.onSend(record.topic);
        if (!seen.has(number)) this.#store(record);
        seen.add(number);
        await this.onStored();
        next = number + 1;
      },
      disconnect: async () => {
        this.connected.delete(producer);
      },
    };
    return producer;
  }

  #store({ topic, messages }: KafkaRecord): void {
    for (const { key, value, headers } of messages)
      this.stored.push({ topic, key, payload: JSON.parse(value), headers });
  }
}
