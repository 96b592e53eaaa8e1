import type { ResolvedRoute } from "../message/message.ts";

const CODE = "ERR_OUTBOX_UNROUTABLE";

/** What a broker lacks for a message. */
type Missing = "exchange" | "queue";

/** A broker has no place for a message, and does not keep it. */
export class UnroutableError extends Error {
  override readonly name = "UnroutableError";
  /** Stable across versions and copies of this file. */
  readonly code: typeof CODE = CODE;
  readonly route: ResolvedRoute;

  constructor(route: ResolvedRoute, missing: Missing) {
    super(
      missing === "exchange"
        ? `there is no exchange "${route.exchange}"`
        : `no queue is bound to the exchange "${route.exchange}" for the routing key "${route.routingKey}"`,
    );
    this.route = route;
  }
}

/** Whether a value is an {@link UnroutableError}, of this copy of the file or another. */
export function isUnroutableError(value: unknown): value is UnroutableError {
  return value instanceof Error && (value as Partial<UnroutableError>).code === CODE;
}
