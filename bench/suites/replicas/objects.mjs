/** Namespace of the objects and of the leases. */
export const NAMESPACE = "bench-replicas";

/** Number of slots. */
export const COUNT = 16;

/** How long a reconcile waits for the network, in milliseconds. */
export const WAIT = 20;
