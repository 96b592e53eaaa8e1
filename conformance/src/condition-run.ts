import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { isTimeoutError } from "@holdfast/wait";
import { type Condition, isExhaustedError, isInterrupted } from "@holdfast/wait/go";
import type { Answer, ConditionInput } from "./condition-case.ts";
import { toMilliseconds } from "./nanoseconds.ts";
import { RecordingClock } from "./recording-clock.ts";
import type { Fields } from "./trace.ts";
import { Uniforms } from "./uniforms.ts";

/** What a function of Holdfast is called with in the place of one of Go. */
export interface Call {
  readonly condition: Condition;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What the condition throws where Go's returns an error. */
class Failure extends Error {}

/** What the condition throws where Go's panics. */
class Panic extends Error {}

/** One case of a condition that is asked again and again, on virtual time. */
export async function conditionRun(
  input: ConditionInput,
  u: readonly number[],
  call: (it: Call) => Promise<void>,
): Promise<Fields> {
  const clock = new FakeClock();
  const recording = new RecordingClock(clock);
  const uniforms = new Uniforms(u);
  using parent = parentOf(input, clock);
  const { signal } = parent;
  const calls: bigint[] = [];
  const condition: Condition = async (told) => {
    const { d, r } = input.cond[Math.min(calls.length, input.cond.length - 1)] as Answer;
    calls.push(recording.elapsed());
    if (Number(d) > 0) await clock.sleep(toMilliseconds(d));
    return answer(r, told);
  };
  const onError = (error: unknown): void => {
    if (!(error instanceof Panic)) throw error;
  };
  const random = uniforms.next;
  const end = await clock.run(() =>
    call({ condition, onError, signal, clock: recording, random }).then(
      () => ({ err: "nil", interrupted: false }),
      (error: unknown) => ({ err: classOf(error), interrupted: isInterrupted(error) }),
    ),
  );
  const endedAt = recording.elapsed();
  const parentCtxErr = signal.aborted ? classOf(signal.reason) : "nil";
  parent[Symbol.dispose]();
  return {
    ...end,
    calls,
    endedAt,
    parentCtxErr,
    draws: BigInt(uniforms.drawn),
    arms: recording.armings,
    waitersLeft: BigInt(clock.waiters()),
  };
}

function answer(result: Answer["r"], signal: AbortSignal): boolean {
  switch (result) {
    case "f":
      return false;
    case "t":
      return true;
    case "e":
    case "te":
      throw new Failure();
    case "p":
      throw new Panic();
    case "ctx":
      signal.throwIfAborted();
      return false;
    default:
      throw new Error(`unknown result ${result as string}`);
  }
}

/** The context that Go's function is called with, and what ends it. */
function parentOf(input: ConditionInput, clock: Clock): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const { cancelAt, parentDeadline, alreadyCanceled = false } = input;
  if (alreadyCanceled) controller.abort();
  const expire = () => controller.abort(new DOMException("the deadline is over", "TimeoutError"));
  const timers = [
    ...(cancelAt === undefined
      ? []
      : [clock.afterFunc(toMilliseconds(cancelAt), () => controller.abort())]),
    ...(parentDeadline === undefined
      ? []
      : [clock.afterFunc(toMilliseconds(parentDeadline), expire)]),
  ];
  const { signal } = controller;
  return {
    signal,
    [Symbol.dispose]: () => {
      for (const timer of timers) timer.stop();
    },
  };
}

/** What Go calls an error. */
function classOf(error: unknown): string {
  if (error instanceof Failure) return "condition";
  if (isExhaustedError(error)) return "waitTimeout";
  if (isTimeoutError(error)) return "deadline";
  const { name } = error as Error;
  if (name === "TimeoutError") return "deadline";
  if (name === "AbortError") return "canceled";
  throw error;
}
