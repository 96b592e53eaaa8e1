/** The event loop of a clock that runs on real time. */
interface MachineLoop {
  /** Keeps the process alive until disposed. */
  keepAlive(): Disposable;
  /** Calls back in a later turn. */
  afterTurn(callback: () => void): void;
  /** False while timers are faked and the time is not. */
  readonly measuresTimers: boolean;
}

/** The property under which a clock offers its {@link MachineLoop}, the same in every copy of the clock. */
export const machineLoop: unique symbol = Symbol.for("@holdfast/clock.machineLoop");

/** The property by which a clock says that its time is simulated: it does not pass while code runs. */
export const simulatedTime: unique symbol = Symbol.for("@holdfast/clock.simulatedTime");

/** A clock that may have a {@link MachineLoop}; `realClock` alone has one. */
export interface LoopClock {
  monotonic(): number;
  readonly [machineLoop]?: MachineLoop;
  readonly [simulatedTime]?: boolean;
}

/** The part of a clock that {@link yieldTurn} uses. */
export interface TurnClock extends LoopClock {
  sleep(delay: number, options?: { readonly label?: string }): Promise<void>;
}

const NOTHING: Disposable = { [Symbol.dispose]: () => {} };

/**
 * Keeps the process alive until disposed, on `realClock` only. On any other clock it does nothing, so
 * `waiters()` and `DeadlockError` are the same with and without it.
 */
export function holdOpen(clock: LoopClock): Disposable {
  return clock[machineLoop]?.keepAlive() ?? NOTHING;
}

/** Lets other work run: a turn of the event loop on `realClock`, a timer due now on any other clock. */
export function yieldTurn(clock: TurnClock): Promise<void> {
  const loop = clock[machineLoop];
  if (loop === undefined) return clock.sleep(0, { label: "turn" });
  return new Promise((resolve) => loop.afterTurn(resolve));
}

/**
 * Whether `monotonic()` shows how early or late a timer of the clock is. If not, each timer counts as
 * punctual.
 */
export function measuresTimers(clock: LoopClock): boolean {
  return clock[machineLoop]?.measuresTimers ?? true;
}
