/** A service that can be disconnected from the workers, and reconnected. */
export interface Switch {
  readonly state: "connected" | "disconnected";
  /** Breaks all connections, and every new one at once. */
  disconnect(): void;
  reconnect(): void;
}
