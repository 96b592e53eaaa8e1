import type { TlsPair } from "../webhook-server.ts";

/** Keeps the certificate of a server. */
export interface Certificates {
  /** Whether the certificate that is shown is trusted by every configuration, as far as that is known. */
  readonly isTrusted: boolean;

  /** End of the certificate that is shown, an instant of the wall clock. Undefined before the first. */
  readonly expiry: number | undefined;

  /** Configurations whose bundle was written. */
  readonly bundleWrites: number;

  /** Shows certificates until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Shows a certificate to new connections. Throws for a pair that does not fit. */
export type Show = (pair: TlsPair) => void;
