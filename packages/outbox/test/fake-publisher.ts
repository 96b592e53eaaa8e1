import type { Clock } from "@holdfast/clock";
import { RecordingPublisher, type RecordingPublisherOptions } from "@holdfast/outbox/testing";
import { numberOf } from "./sample.ts";

/** The response to an attempt: it may throw, or wait. */
export type Respond = NonNullable<RecordingPublisherOptions["respond"]>;

/** A record that reads as pairs: the instant from the start on, and the number of the message. */
export class FakePublisher extends RecordingPublisher {
  constructor(clock: Clock, respond?: Respond) {
    super({ clock, respond });
  }

  get sent(): [number, number][] {
    return this.attempts.map(({ at, message }) => [at, numberOf(message.id)]);
  }
}
