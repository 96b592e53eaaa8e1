/** Settings as text, as fields and links hold them. Times are in milliseconds, the outage in seconds. */
export interface Draft {
  readonly strategy: string;
  readonly duration: string;
  readonly factor: string;
  readonly jitter: string;
  readonly share: string;
  readonly cap: string;
  readonly steps: string;
  readonly clients: string;
  readonly outage: string;
  readonly seed: string;
}

export type Field = keyof Draft;

/** The backoff of `retry` by default, and the outage of the guides. */
export const START: Draft = {
  strategy: "exponential",
  duration: "100",
  factor: "2",
  jitter: "share",
  share: "0.5",
  cap: "30000",
  steps: "Infinity",
  clients: "1000",
  outage: "10",
  seed: "1",
};

const FIELDS: readonly Field[] = Object.keys(START) as Field[];

/** A named set of settings. */
export interface Preset {
  readonly title: string;
  readonly change: Partial<Draft>;
}

export const PRESETS: readonly Preset[] = [
  { title: "retry, by default", change: {} },
  { title: "poll, by default", change: { factor: "1.5", share: "0.1", cap: "1000" } },
  { title: "many clients", change: { jitter: "full", cap: "10000" } },
  {
    title: "CrashLoopBackOff of Kubernetes",
    change: { duration: "10000", jitter: "none", cap: "300000" },
  },
  {
    title: "symmetric, as in cenkalti/backoff",
    change: { duration: "500", factor: "1.5", jitter: "symmetric", cap: "60000" },
  },
  {
    title: "decorrelated",
    change: { strategy: "decorrelated", factor: "3", cap: "10000" },
  },
  { title: "every second", change: { strategy: "constant", duration: "1000", jitter: "none" } },
];

/** The fields that a preset decides, in full. */
export function applyPreset(draft: Draft, { change }: Preset): Draft {
  const { clients, outage, seed } = draft;
  return { ...START, clients, outage, seed, ...change };
}

/** @param fragment - of a URL, with or without `#` */
export function draftOf(fragment: string): { draft: Draft; unknown: string[] } {
  const entries = [...new URLSearchParams(fragment.replace(/^#/, ""))];
  const isField = (name: string): boolean => FIELDS.some((field) => field === name);
  const known = entries.filter(([name]) => isField(name));
  return {
    draft: { ...START, ...Object.fromEntries(known) },
    unknown: entries.map(([name]) => name).filter((name) => !isField(name)),
  };
}

/** The fragment of a link to these settings, with all of them, so that it survives other defaults. */
export function fragmentOf(draft: Draft): string {
  return new URLSearchParams({ ...draft }).toString();
}
