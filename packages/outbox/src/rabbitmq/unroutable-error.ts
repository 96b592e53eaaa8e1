import { findByCode } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_UNROUTABLE";

/** The destination of a message. */
export interface Route {
  /** Empty for the default exchange, which takes the routing key for the name of a queue. */
  readonly exchange: string;

  /** The key that the exchange routes by. */
  readonly routingKey: string;
}

/** The part of a route that a broker does not have. */
export type Missing = "exchange" | "queue";

/** A broker has no place for a message, and does not keep it. */
export class UnroutableError extends Error {
  override readonly name = "UnroutableError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_UNROUTABLE" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_UNROUTABLE" = CODE;

  /** Where the message was to go. */
  readonly route: Route;

  /**
   * @param route - where the message was to go
   * @param missing - the part that does not exist
   */
  constructor(route: Route, missing: Missing) {
    super(
      missing === "exchange"
        ? `exchange "${route.exchange}" does not exist`
        : `no queue is bound to exchange "${route.exchange}" with routing key "${route.routingKey}"`,
    );
    this.route = route;
  }
}

/**
 * Whether an error is an {@link UnroutableError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isUnroutableError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
