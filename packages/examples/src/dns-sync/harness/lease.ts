/** Times of the lease in milliseconds. Shorter than the defaults, so that hand-overs take seconds. */
export const LEASE = { leaseDuration: 8_000, renewDeadline: 6_000, retryPeriod: 500 };
