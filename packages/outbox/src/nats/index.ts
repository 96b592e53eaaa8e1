/**
 * Messages to a stream of NATS JetStream, acknowledged by it.
 *
 * @packageDocumentation
 */

export {
  findRefusedError,
  isRefusedError,
  RefusedError,
  type RefusedErrorOptions,
} from "../publisher/refused-error.ts";
export {
  findUnconfirmedError,
  isUnconfirmedError,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
} from "../publisher/unconfirmed-error.ts";
export { NatsPublisher, type NatsPublisherOptions } from "./nats-publisher.ts";
