import { isEqual } from "@holdfast/kit/kubernetes";
import { bundleOf, type CertificateState, type CertificateStep, decide } from "./decide.ts";

/** The Secret as it was read. Its state is undefined if it has none that can be used. */
export interface SecretRead<State> {
  readonly version: string;
  readonly state: State | undefined;
}

/** A configuration as it was read: the authorities that all of its webhooks trust. */
export interface BundleRead {
  readonly version: string;
  readonly bundle: readonly string[];
}

/** A command of {@link keepCertificates}. The answer to a write is undefined after a conflict. */
export type CertificateCommand<State> =
  | { readonly type: "read-secret" }
  | { readonly type: "write-secret"; readonly version: string | undefined; readonly state: State }
  | { readonly type: "read-bundle"; readonly index: number }
  | {
      readonly type: "write-bundle";
      readonly index: number;
      readonly version: string;
      readonly bundle: readonly string[];
    }
  | { readonly type: "show"; readonly state: State }
  | {
      readonly type: "issue";
      readonly step: CertificateStep;
      readonly state: State | undefined;
      /** The authorities that configurations trust beside those of the state. */
      readonly last: readonly string[];
    };

/** The facts of a pass. */
export interface PassFacts<State> {
  /** Number of configurations. */
  readonly bundles: number;
  /** The state that is shown: put back if the Secret was deleted. */
  readonly shown: State | undefined;
  readonly now: number;
  readonly future: number;
  readonly names: string;
  readonly settle: number;
}

type Pass<State, Result> = Generator<CertificateCommand<State>, Result, unknown>;

/**
 * One pass over the certificates, by any replica at any time. The order of its reads is the proof that no server shows a
 * certificate that a configuration does not trust:
 *
 * - the version of a configuration is read before the Secret, and its bundle is written for that version alone. So a bundle
 *   is never replaced by an older one;
 * - a leaf is shown, and an authority signs, after every configuration was seen to trust it, while the Secret stayed the same;
 * - the Secret is written for the version that was read: a conflict is the lock, and there is no lease;
 * - if the Secret is lost, the authorities that the configurations trust stay in their bundles for an hour, as the last ones:
 *   other replicas still show certificates of them.
 */
export function* keepCertificates<State extends CertificateState>(
  facts: PassFacts<State>,
): Pass<State, void> {
  const secret = yield* readSecret<State>();
  const state = secret?.state;
  const trusted = yield* trustedBundles(facts.bundles, state);
  const again = yield* readSecret<State>();
  if (again?.version !== secret?.version) return;
  if (isLeafTrusted(trusted, state)) yield { type: "show", state: state as State };
  const lost = secret === undefined ? facts.shown : undefined;
  const next = lost ? restored(lost, trusted, facts.now) : yield* nextState(state, trusted, facts);
  if (next !== undefined) yield { type: "write-secret", version: secret?.version, state: next };
}

/** Mends the bundles of all configurations, if there is a state. Returns what each trusts. */
function* trustedBundles<State extends CertificateState>(
  bundles: number,
  state: State | undefined,
): Pass<State, readonly (readonly string[])[]> {
  const trusted: (readonly string[])[] = [];
  for (let index = 0; index < bundles; index++) {
    const bundle = yield* state === undefined ? readBundle<State>(index) : mend<State>(index);
    if (bundle !== undefined) trusted.push(bundle);
  }
  return trusted;
}

function* nextState<State extends CertificateState>(
  state: State | undefined,
  trusted: readonly (readonly string[])[],
  facts: PassFacts<State>,
): Pass<State, State | undefined> {
  const step = decide(state, { ...facts, isTrusted: (id) => isTrustedBy(trusted, id) });
  if (step === undefined) return undefined;
  return (yield { type: "issue", step, state, last: othersIn(trusted, state) }) as State;
}

function isLeafTrusted(
  bundles: readonly (readonly string[])[],
  state: CertificateState | undefined,
): boolean {
  return state !== undefined && isTrustedBy(bundles, state.leaf.issuer);
}

function isTrustedBy(bundles: readonly (readonly string[])[], id: string): boolean {
  return bundles.every((bundle) => bundle.includes(id));
}

/** The authorities of bundles that a state does not know. */
function othersIn(
  bundles: readonly (readonly string[])[],
  state: CertificateState | undefined,
): string[] {
  const own = state === undefined ? [] : bundleOf(state);
  return [...new Set(bundles.flat())].filter((id) => !own.includes(id));
}

/** The state that was shown, for a Secret that was deleted. */
function restored<State extends CertificateState>(
  shown: State,
  bundles: readonly (readonly string[])[],
  now: number,
): State {
  return { ...shown, last: [...(shown.last ?? []), ...othersIn(bundles, shown)], since: now };
}

function* readSecret<State>(): Pass<State, SecretRead<State> | undefined> {
  return (yield { type: "read-secret" }) as SecretRead<State> | undefined;
}

/** Writes the bundle of a configuration if it is another one. Returns the authorities that it trusts; undefined if there is none. */
function* mend<State extends CertificateState>(
  index: number,
): Pass<State, readonly string[] | undefined> {
  const found = (yield { type: "read-bundle", index }) as BundleRead | undefined;
  if (found === undefined) return undefined;
  const { version, bundle } = found;
  const secret = yield* readSecret<State>();
  if (secret?.state === undefined) return bundle;
  const wanted = bundleOf(secret.state);
  if (isEqual(bundle, wanted)) return bundle;
  const written = yield { type: "write-bundle", index, version, bundle: wanted };
  return written === undefined ? [] : wanted;
}

function* readBundle<State>(index: number): Pass<State, readonly string[] | undefined> {
  return ((yield { type: "read-bundle", index }) as BundleRead | undefined)?.bundle;
}
