/**
 * Messages to RabbitMQ, with publisher confirms.
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
export { RabbitPublisher, type RabbitPublisherOptions } from "./rabbit-publisher.ts";
export type { RabbitTls } from "./rabbit-tls.ts";
export {
  isUnroutableError,
  type Missing,
  type Route,
  UnroutableError,
} from "./unroutable-error.ts";
