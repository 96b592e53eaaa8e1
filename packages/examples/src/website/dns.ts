import type { Clock } from "@holdfast/clock";
import { expectOk, withTimeout } from "@holdfast/wait";

/** A DNS provider with one record for each owner. Both calls may be repeated. */
export interface Dns {
  /** Makes the record of an owner, or replaces it. */
  put(owner: string, record: { host: string; target: string }, signal: AbortSignal): Promise<void>;

  /** Deletes the record of an owner, if there is one. */
  delete(owner: string, signal: AbortSignal): Promise<void>;
}

/** A provider that takes PUT and DELETE of `/records/OWNER`. */
export function dnsAt(url: string, clock: Clock): Dns {
  const send = async (owner: string, parent: AbortSignal, init: RequestInit): Promise<void> =>
    await withTimeout(
      async (signal) => {
        const response = await fetch(`${url}/records/${owner}`, { ...init, signal });
        if (response.status !== 404 || init.method !== "DELETE")
          await expectOk(response, { clock });
      },
      5_000,
      { signal: parent, clock },
    );
  const headers = { "content-type": "application/json" };
  return {
    put: (owner, record, signal) =>
      send(owner, signal, { method: "PUT", headers, body: JSON.stringify(record) }),
    delete: (owner, signal) => send(owner, signal, { method: "DELETE" }),
  };
}
