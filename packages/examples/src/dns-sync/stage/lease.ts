/** Times of the lease in milliseconds: shorter than in production, so that hand-overs take seconds. */
export const LEASE = { leaseDuration: 5_000, renewDeadline: 3_500, retryPeriod: 500 };
