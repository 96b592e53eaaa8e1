/**
 * Messages to a stream of NATS JetStream, acknowledged by it.
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
export { type NatsClient, NatsPublisher, type NatsPublisherOptions } from "./nats-publisher.ts";
