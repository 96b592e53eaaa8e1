import type { Claim } from "../store/claim.ts";

/** A claim, and the monotonic instant at which it ends; the wall clock may be set meanwhile. */
export interface HeldClaim {
  readonly claim: Claim;
  readonly expires: number;
}
