/** An authority: its certificate in PEM is its identity. Instants are those of the wall clock, in milliseconds. */
export interface Authority {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** The certificate of the server. */
export interface Leaf {
  /** Identity of the authority that has signed it. */
  readonly issuer: string;
  readonly from: number;
  readonly to: number;
  /** The names of the server, as text. */
  readonly names: string;
}

/** The certificates that all replicas share. */
export interface CertificateState<A extends Authority = Authority, L extends Leaf = Leaf> {
  readonly authority: A;
  /** The authority after this one: to be trusted before it signs. */
  readonly next?: A | undefined;
  /** Identities of the authorities before: trusted while replicas may show a certificate of them. */
  readonly last?: readonly string[] | undefined;
  readonly leaf: L;
  /** Instant at which `next` or `last` came. */
  readonly since: number;
}

/**
 * A step of the certificates.
 *
 * | Step | Makes | When |
 * | --- | --- | --- |
 * | `create` | an authority, and a leaf by it | there is none, or it has expired or is of the future |
 * | `promote` | a leaf by the next authority, which becomes the authority | it came an hour ago, and every configuration trusts it |
 * | `leaf` | a leaf by the authority | two thirds of its time are over, or it is of the future, of another authority, or for other names |
 * | `settle` | an end to the last authorities | they were replaced an hour ago |
 * | `next` | the next authority | two thirds of the time of the authority are over |
 */
export type CertificateStep = "create" | "promote" | "leaf" | "settle" | "next";

/** The facts of a decision. */
export interface CertificateFacts {
  readonly now: number;
  /**
   * A certificate that begins after this instant is of the future: a replica whose clock was ahead has made it, and no server
   * accepts it yet.
   */
  readonly future: number;
  /** The names that the leaf must have. */
  readonly names: string;
  /** Milliseconds between two steps of a rotation. */
  readonly settle: number;
  /** Whether every configuration trusts an authority. Read after the state. */
  readonly isTrusted: (id: string) => boolean;
}

/** The authorities that every configuration must trust. */
export function bundleOf({ authority, next, last }: CertificateState): readonly string[] {
  return [authority.id, ...(next ? [next.id] : []), ...(last ?? [])];
}

/** The next step of the certificates. Undefined if all is well. */
export function decide(
  state: CertificateState | undefined,
  facts: CertificateFacts,
): CertificateStep | undefined {
  const { now, settle, isTrusted } = facts;
  if (state === undefined || !isValid(state.authority, facts)) return "create";
  const { authority, next, last, since } = state;
  const isQuiet = now >= since + settle;
  if (next !== undefined && isQuiet && isTrusted(next.id)) return "promote";
  if (isLeafDue(state, facts)) return "leaf";
  if (last !== undefined) return isQuiet ? "settle" : undefined;
  return isNextDue(authority, next, now) ? "next" : undefined;
}

function isValid({ from, to }: Authority, { now, future }: CertificateFacts): boolean {
  return now < to && from <= future;
}

function isNextDue(authority: Authority, next: Authority | undefined, now: number): boolean {
  return next === undefined && isOld(authority, now);
}

function isLeafDue(
  { authority, leaf }: CertificateState,
  { now, future, names }: CertificateFacts,
): boolean {
  const isOfAnother = leaf.issuer !== authority.id || leaf.names !== names;
  return isOfAnother || isOld(leaf, now) || leaf.from > future;
}

function isOld({ from, to }: { readonly from: number; readonly to: number }, now: number): boolean {
  return now >= from + ((to - from) * 2) / 3;
}
