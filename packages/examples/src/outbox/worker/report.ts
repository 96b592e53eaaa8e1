import type { OutboxEvent } from "@holdfast/outbox";

/** Messages of a worker to its parent. */
export type Report =
  | { readonly type: "ready" }
  /** An order was placed or taken back, or was there already. */
  | { readonly type: "placed"; readonly order: number }
  /** Something happened to a message, or to the store. */
  | { readonly type: "event"; readonly kind: OutboxEvent["type"] }
  /** The broker or Redis is unreachable; it is retried. */
  | { readonly type: "error"; readonly text: string };

/** Message of the parent to a worker: place this order. */
export interface PlaceOrder {
  readonly order: number;
}
