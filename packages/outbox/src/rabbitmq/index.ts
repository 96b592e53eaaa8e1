/**
 * Messages to RabbitMQ, with publisher confirms.
 *
 * @packageDocumentation
 */

export { RabbitPublisher, type RabbitPublisherOptions, type Route } from "./rabbit-publisher.ts";
export { isRefusedError, RefusedError, type RefusedErrorOptions } from "./refused-error.ts";
export {
  isUnconfirmedError,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
} from "./unconfirmed-error.ts";
export { isUnroutableError, type Missing, UnroutableError } from "./unroutable-error.ts";
