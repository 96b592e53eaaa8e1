/** Times of the lease in milliseconds: shorter than in production, so that hand-overs take seconds. */
export const LEASE = { leaseDuration: 8_000, renewDeadline: 6_000, retryPeriod: 500 };
