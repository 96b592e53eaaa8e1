/**
 * Messages to RabbitMQ, with publisher confirms.
 *
 * @packageDocumentation
 */

export { RabbitPublisher, type RabbitPublisherOptions } from "./rabbit-publisher.ts";
export {
  findRefusedError,
  isRefusedError,
  RefusedError,
  type RefusedErrorOptions,
} from "./refused-error.ts";
export {
  findUnconfirmedError,
  isUnconfirmedError,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
} from "./unconfirmed-error.ts";
export {
  findUnroutableError,
  isUnroutableError,
  type Missing,
  type Route,
  UnroutableError,
} from "./unroutable-error.ts";
