import { requireAbove, requireFinite } from "./arguments.ts";

/** Maximum share of the retry period that is added at random during a campaign. */
export const CAMPAIGN_JITTER = 1.2;

/**
 * Same order as in Go: each duration leaves room for the next.
 *
 * @param options - what the errors call the options that have them
 */
export function requireDurations(
  options: string,
  durations: Readonly<Record<"leaseDuration" | "renewDeadline" | "retryPeriod", number>>,
): void {
  const { leaseDuration, renewDeadline, retryPeriod } = durations;
  requireFinite(`${options}.leaseDuration`, leaseDuration);
  requireFinite(`${options}.renewDeadline`, renewDeadline);
  requireAbove(`${options}.retryPeriod`, requireFinite(`${options}.retryPeriod`, retryPeriod), 0);
  const longestRetry = retryPeriod * CAMPAIGN_JITTER;
  if (!(renewDeadline > longestRetry))
    throw new RangeError(
      `${options}.renewDeadline must be above ${CAMPAIGN_JITTER} times ${options}.retryPeriod (${longestRetry}), got ${renewDeadline}`,
    );
  if (!(leaseDuration > renewDeadline))
    throw new RangeError(
      `${options}.leaseDuration must be above ${options}.renewDeadline (${renewDeadline}), got ${leaseDuration}`,
    );
}
