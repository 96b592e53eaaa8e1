import type { Clock } from "@holdfast/clock";
import {
  RecordingPublisher,
  type RecordingPublisherOptions,
} from "../src/testing/recording-publisher.ts";
import { numberOf } from "./sample.ts";

/** What becomes of an attempt: it may throw, or wait. */
export type Answer = NonNullable<RecordingPublisherOptions["answer"]>;

/** A record that reads as pairs: the instant from the start on, and the number of the message. */
export class FakePublisher extends RecordingPublisher {
  constructor(clock: Clock, answer?: Answer) {
    super({ clock, answer });
  }

  get sent(): [number, number][] {
    return this.attempts.map(({ at, message }) => [at, numberOf(message.id)]);
  }
}
