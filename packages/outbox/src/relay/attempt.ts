import { retry, withTimeout } from "@holdfast/wait";
import type { Claim } from "../store/claim.ts";
import { type OutboxEvent, report } from "../task/outbox-event.ts";
import { failureOf } from "./failure-of.ts";
import type { ResolvedRelayOptions } from "./relay-options.ts";

/** A claim, and the monotonic instant at which it ends; the wall clock may be set meanwhile. */
export interface HeldClaim {
  /** The claim. */
  readonly claim: Claim;

  /** When it ends, on the monotonic line of the clock. */
  readonly expires: number;
}

/** How long to wait before an outcome is written once more, in milliseconds. */
const WRITE_AGAIN = { duration: 100, factor: 2, cap: 5_000, jitter: 0.5 };

/**
 * Makes one attempt of a message and writes its outcome.
 *
 * @param signal - ends the attempt: its outcome is unknown then, and the message is given back
 * @returns the outcome; it never rejects
 */
export async function attempt(
  held: HeldClaim,
  options: ResolvedRelayOptions,
  signal: AbortSignal,
): Promise<OutboxEvent> {
  const { publisher, clock, publishTimeout, clockSkew } = options;
  const { message } = held.claim;
  const left = held.expires - clock.monotonic();
  if (left < publishTimeout + clockSkew || signal.aborted) return await release(held, options);
  const publish = (limited: AbortSignal): Promise<void> => publisher.publish(message, limited);
  try {
    await withTimeout(publish, publishTimeout, { clock, signal, label: "publish" });
  } catch (error) {
    if (signal.aborted) return await release(held, options);
    return await fail(held, error, options, signal);
  }
  return await succeed(held, options, signal);
}

/** Gives a claim back that no attempt was made for. */
export async function release(
  { claim }: HeldClaim,
  options: ResolvedRelayOptions,
): Promise<OutboxEvent> {
  const { store, clock, storeTimeout } = options;
  const request = (): Promise<boolean> => store.release(claim);
  return await withTimeout(request, storeTimeout, { clock, label: "release" }).then(
    (done) => ({ type: done ? "released" : "lost", claim }),
    (error: unknown) => ({ type: "unwritten", claim, error }),
  );
}

async function succeed(
  held: HeldClaim,
  options: ResolvedRelayOptions,
  signal: AbortSignal,
): Promise<OutboxEvent> {
  const { store, clock } = options;
  const { claim } = held;
  const now = Math.floor(clock.now());
  return await write(held, options, {
    request: () => store.markSuccess(claim, now),
    event: { type: "published", claim },
    signal,
  });
}

async function fail(
  held: HeldClaim,
  error: unknown,
  options: ResolvedRelayOptions,
  signal: AbortSignal,
): Promise<OutboxEvent> {
  const { store, clock, jitter, random } = options;
  const { claim } = held;
  const failure = failureOf(error, claim.message, { now: clock.now(), jitter, random });
  const type = failure.nextScheduleTime === undefined ? "dead" : "failed";
  return await write(held, options, {
    request: () => store.markFail(claim, failure),
    event: { type, claim, failure },
    signal,
  });
}

/** The stored outcome of an attempt. */
interface Writing {
  readonly request: () => Promise<boolean>;
  /** The event of an outcome, after it is stored. */
  readonly event: OutboxEvent;
  /** After its abort there is one request more. */
  readonly signal: AbortSignal;
}

/** Writes an outcome, again and again if the store is away, until the claim or the relay ends. */
async function write(
  { claim, expires }: HeldClaim,
  options: ResolvedRelayOptions,
  { request, event, signal }: Writing,
): Promise<OutboxEvent> {
  const { clock, random, storeTimeout } = options;
  try {
    const done = await retry(request, {
      attemptTimeout: storeTimeout,
      clock,
      backoff: { ...WRITE_AGAIN, random },
      retries: Number.POSITIVE_INFINITY,
      maxElapsed: Math.max(0, expires - clock.monotonic()),
      onRetry: ({ error }) => report({ type: "error", error }, options),
      signal,
    }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return withTimeout(request, storeTimeout, { clock, label: "write" });
    });
    return done ? event : { type: "lost", claim };
  } catch (error) {
    return { type: "unwritten", claim, error };
  }
}
