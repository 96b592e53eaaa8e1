import { FakeClock } from "@holdfast/clock/testing";
import { KeyedBackoff, type KeyedBackoffOptions } from "@holdfast/wait/go";
import type { FlowcontrolInput, FlowcontrolOp } from "../flowcontrol-case.ts";
import { FlowcontrolModel } from "../flowcontrol-model.ts";
import { type GoInt, toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import { outOfRange, rejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface FlowcontrolCase {
  readonly id: number;
  readonly in: FlowcontrolInput;
  readonly ops: readonly FlowcontrolOp[];
  readonly res: readonly { readonly u?: readonly number[] }[];
  readonly overflow?: boolean;
}

/** `flowcontrol.Backoff`. */
export const flowcontrolCases: Section<FlowcontrolCase> = {
  file: "flowcontrol-backoff.json",
  name: "cases",
  fields: [
    "id",
    ...["initial", "max", "maxJitterFactor", "hasExpired"].map((name) => `in.${name}`),
    "ops",
    "res",
    "overflow",
  ],
  unseen: {},
  rules: ["rejected-at-the-door", "no-overflow"],

  recorded: ({ res }) =>
    fieldsOf({ draws: drawsOf(res).length, res: res.map(({ u, ...result }) => result) }),

  predict(kase, recorded, inForce) {
    const rejected = inForce.has("rejected-at-the-door") ? Object.keys(rejectedOf(kase)) : [];
    const wraps = inForce.has("no-overflow") && kase.overflow === true;
    const trace = wraps ? saturated(kase) : recorded;
    return withRejected(rejected, rejected.includes("cap") ? {} : trace);
  },

  replay(kase) {
    const rejected = rejections(
      rejectedOf(kase),
      (option) => new KeyedBackoff({ duration: 1, cap: 1, ...option }),
    );
    return rejected.includes("cap") ? { rejected } : { rejected, ...replayed(kase) };
  },
};

function drawsOf(res: FlowcontrolCase["res"]): readonly number[] {
  return res.flatMap(({ u = [] }) => u);
}

function settingsOf({
  in: go,
}: FlowcontrolCase): KeyedBackoffOptions & { readonly jitter: number } {
  const cap = toMilliseconds(go.max);
  const times = go.hasExpired === -1 ? Number.POSITIVE_INFINITY : go.hasExpired;
  return {
    duration: toMilliseconds(go.initial),
    cap,
    jitter: go.maxJitterFactor,
    resetAfter: times === undefined ? undefined : times * cap,
  };
}

/** With a cap of 0, which is none in no other place, every delay but the first is 0 in Go. */
function rejectedOf(kase: FlowcontrolCase): Record<string, number> {
  const { duration, cap, jitter } = settingsOf(kase);
  return { ...outOfRange({ duration, jitter }), ...(cap > 0 ? {} : { cap }) };
}

function replayed(kase: FlowcontrolCase): Fields {
  const settings = settingsOf(kase);
  const uniforms = new Uniforms(drawsOf(kase.res));
  const clock = new FakeClock();
  const start = clock.monotonic();
  const instantOf = (eventTime: GoInt): number => start + toMilliseconds(eventTime);
  const backoff = new KeyedBackoff({
    ...settings,
    jitter: Math.max(settings.jitter, 0),
    clock,
    random: uniforms.next,
  });
  const apply = (op: FlowcontrolOp): Fields => {
    switch (op[0]) {
      case "get":
        return { d: toNanoseconds(backoff.get(op[1])) };
      case "next":
        return { d: toNanoseconds(backoff.next(op[1], instantOf(op[2]))) };
      case "since":
        return { b: backoff.isInBackoffSince(op[1], instantOf(op[2])) };
      case "sinceUpdate":
        return { b: backoff.isInBackoffSinceUpdate(op[1], instantOf(op[2])) };
      case "gc":
        backoff.gc();
        return { keys: BigInt(backoff.size) };
      case "reset":
      case "deleteEntry":
        backoff.reset(op[1]);
        return { keys: BigInt(backoff.size) };
      case "step":
        clock.stepSync(toMilliseconds(op[1]));
        return {};
      default:
        throw new Error(`unknown operation ${op[0]}`);
    }
  };
  const res = kase.ops.map(apply);
  return { draws: BigInt(uniforms.drawn), res };
}

function saturated({ in: go, ops, res }: FlowcontrolCase): Fields {
  const uniforms = new Uniforms(drawsOf(res));
  const model = new FlowcontrolModel(go, uniforms.next);
  const results = ops.map((op) => model.apply(op));
  return { draws: BigInt(uniforms.drawn), res: results };
}
