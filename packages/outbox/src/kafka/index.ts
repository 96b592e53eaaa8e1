/**
 * Messages to Kafka, acknowledged by all replicas in sync.
 *
 * @packageDocumentation
 */

export {
  isRefusedError,
  RefusedError,
  type RefusedErrorOptions,
} from "../publisher/refused-error.ts";
export {
  isUnconfirmedError,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
} from "../publisher/unconfirmed-error.ts";
export {
  type KafkaClient,
  type KafkaProducer,
  type KafkaProducerOptions,
  KafkaPublisher,
  type KafkaPublisherOptions,
  type KafkaRecord,
} from "./kafka-publisher.ts";
