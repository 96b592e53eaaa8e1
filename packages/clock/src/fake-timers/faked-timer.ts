import type { TimerOptions } from "../clock.ts";
import { HostTimer } from "../host/host-timer.ts";
import type { FakedTime, KnownTimer } from "./faked-time.ts";

/** A timer on faked globals that keeps its label and its exact deadline. */
export class FakedTimer extends HostTimer implements KnownTimer {
  readonly label: string | undefined;
  readonly ref: boolean;
  readonly #time: FakedTime;

  constructor(time: FakedTime, fire: () => void, options: TimerOptions) {
    const ref = options.ref ?? true;
    super(time, fire, ref);
    this.label = options.label;
    this.ref = ref;
    this.#time = time;
  }

  protected override arm(delay: number): void {
    super.arm(delay);
    this.#time.add(this);
  }

  protected override disarm(): void {
    this.#time.remove(this);
    super.disarm();
  }

  protected override expire(): void {
    this.#time.noteFired(this);
    super.expire();
  }
}
