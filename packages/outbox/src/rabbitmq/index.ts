/**
 * Messages to RabbitMQ, with publisher confirms.
 *
 * @packageDocumentation
 */

export { RabbitPublisher, type RabbitPublisherOptions } from "./rabbit-publisher.ts";
export {
  isRefusedError,
  RefusedError,
  type RefusedErrorOptions,
} from "./refused-error.ts";
export {
  isUnconfirmedError,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
} from "./unconfirmed-error.ts";
export {
  isUnroutableError,
  type Missing,
  type Route,
  UnroutableError,
} from "./unroutable-error.ts";
