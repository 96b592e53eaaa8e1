import { onAbort } from "@holdfast/clock";

/** `localhost` is both families: a server may listen on one of them. */
export function addressesOf(host: string): readonly string[] {
  return host === "localhost" ? ["127.0.0.1", "::1"] : [host];
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** The port of a URL. */
export function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** Resolves when one address succeeds. Rejects when all have failed, with the error of one that answered, if any did. */
export async function firstOf(
  addresses: readonly string[],
  signal: AbortSignal,
  attempt: (address: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const own = new AbortController();
  using _ = onAbort(signal, (reason) => own.abort(reason));
  try {
    await Promise.any(addresses.map((address) => attempt(address, own.signal)));
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    throw error.errors.find(({ code }) => code !== "ECONNREFUSED") ?? error.errors[0];
  } finally {
    own.abort();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name not found",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EADDRNOTAVAIL: "address not available",
  ETIMEDOUT: "connection timed out",
  ENOENT: "does not exist",
  EACCES: "permission denied",
  EPROTO: "no TLS on this port",
  HPE_HEADER_OVERFLOW: "headers of the response above 16 KB",
};

/** A few words for an error of the network or of a file. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const nested = error instanceof AggregateError ? error.errors[0] : undefined;
  if (nested !== undefined) return reasonOf(nested);
  return (
    REASONS[code ?? ""] ?? (code?.startsWith("HPE_") ? "no HTTP on this port" : code) ?? message
  );
}
