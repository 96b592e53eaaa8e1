import { GrpcBackoff, type GrpcBackoffOptions, grpcBackoff } from "@holdfast/wait/strategies";
import { type GoFloat, type GoInt, toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import { rejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf, type Trace } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface GrpcCase {
  readonly in: {
    readonly baseDelay: GoInt;
    readonly multiplier: GoFloat;
    readonly jitter: GoFloat;
    readonly maxDelay: GoInt;
  };
  readonly default?: boolean;
  readonly retries: readonly number[];
  readonly u: readonly number[];
  readonly out: readonly GoInt[];
  readonly overflow?: boolean;
}

const LONGEST = 2n ** 63n;

/** `Exponential{Config}.Backoff(retries)`, and the strategy where the retries are 0, 1, 2 and so on. */
export const grpcCases: Section<GrpcCase> = {
  file: "grpc.json",
  name: "cases",
  fields: [
    "id",
    "in.baseDelay",
    "in.multiplier",
    "in.jitter",
    "in.maxDelay",
    "default",
    "retries",
    "u",
    "out",
    "overflow",
  ],
  unseen: {},
  rules: ["rejected-at-the-door", "no-overflow"],

  recorded: (kase) =>
    fieldsOf({
      draws: kase.u.length,
      out: kase.out,
      delayFunc: kase.out.slice(0, countedFromZero(kase)),
    }),

  predict(kase, recorded, inForce) {
    const wraps = inForce.has("no-overflow") && isPossible(kase);
    const delays = wraps ? saturated(recorded) : recorded;
    if (!inForce.has("rejected-at-the-door")) return delays;
    const rejected = Object.keys(rejectedOf(kase));
    return withRejected(rejected, isPossible(kase) ? withoutNegative(kase, delays) : {});
  },

  replay(kase) {
    const rejected = rejections(rejectedOf(kase), ({ retries = 0, ...option }) =>
      grpcBackoff(retries, option),
    );
    if (!isPossible(kase)) return { rejected };
    return { rejected, ...delaysOf(kase, kase.default === true ? {} : optionsOf(kase)) };
  },
};

function delaysOf(kase: GrpcCase, options: GrpcBackoffOptions): Fields {
  const uniforms = new Uniforms(kase.u);
  const out = kase.retries.map((retries) => {
    if (retries >= 0)
      return toNanoseconds(grpcBackoff(retries, { ...options, random: uniforms.next }));
    uniforms.next();
    return undefined;
  });
  const again = new Uniforms(kase.u);
  const next = new GrpcBackoff({ ...options, random: again.next }).delayFunc();
  const delayFunc = Array.from({ length: countedFromZero(kase) }, () => toNanoseconds(next()));
  return { draws: BigInt(uniforms.drawn), out, delayFunc };
}

/** How many of the retries, from the first on, are 0, 1, 2 and so on. */
function countedFromZero({ retries }: GrpcCase): number {
  const end = retries.findIndex((count, index) => count !== index);
  return end === -1 ? retries.length : end;
}

function optionsOf({ in: go }: GrpcCase): GrpcBackoffOptions & Record<string, number> {
  return {
    duration: toMilliseconds(go.baseDelay),
    factor: Number(go.multiplier),
    jitter: Number(go.jitter),
    cap: toMilliseconds(go.maxDelay),
  };
}

/** The options that Holdfast rejects; in Go nothing stands for a default, and 0 is 0. */
function rejectedOptions(kase: GrpcCase): Record<string, number> {
  const isInRange: Readonly<Record<string, (value: number) => boolean>> = {
    duration: (value) => value >= 0,
    factor: (value) => value > 0,
    jitter: (value) => value >= 0 && value <= 1,
    cap: (value) => value > 0,
  };
  return Object.fromEntries(
    Object.entries(optionsOf(kase)).filter(([name, value]) => !isInRange[name]?.(value)),
  );
}

function rejectedOf(kase: GrpcCase): Record<string, number> {
  const negative = kase.retries.find((retries) => retries < 0);
  return { ...rejectedOptions(kase), ...(negative === undefined ? {} : { retries: negative }) };
}

/** Whether the options are such that Holdfast takes them. */
function isPossible(kase: GrpcCase): boolean {
  return Object.keys(rejectedOptions(kase)).length === 0;
}

/** Nothing but an overflow makes a delay negative. */
function saturated({ out, delayFunc, ...rest }: Fields): Fields {
  const saturate = (delays: Trace): Trace =>
    (delays as readonly bigint[]).map((delay) => (delay < 0n ? LONGEST : delay));
  return { ...rest, out: saturate(out), delayFunc: saturate(delayFunc) };
}

function withoutNegative({ retries }: GrpcCase, { out, ...rest }: Fields): Fields {
  const delays = out as readonly bigint[];
  const kept = delays.map((delay, index) => ((retries[index] ?? 0) < 0 ? undefined : delay));
  return { ...rest, out: kept };
}
