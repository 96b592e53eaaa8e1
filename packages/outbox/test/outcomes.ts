import type { Claim, Failure, OutboxStore } from "@holdfast/outbox/store";

type Writer = Pick<OutboxStore<never>, "write">;

/** Writes that the message of a claim was delivered; whether it was written. */
export async function deliver(store: Writer, claim: Claim, now: number): Promise<boolean> {
  return (await store.write([{ type: "delivered", claim, now }]))[0] === true;
}

/** Writes that the attempt of a claim failed; whether it was written. */
export async function fail(store: Writer, claim: Claim, failure: Failure): Promise<boolean> {
  return (await store.write([{ type: "failed", claim, failure }]))[0] === true;
}

/** Gives a claim back; whether it was written. */
export async function release(store: Writer, claim: Claim): Promise<boolean> {
  return (await store.write([{ type: "released", claim }]))[0] === true;
}
