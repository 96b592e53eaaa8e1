import { TimeoutError } from "@holdfast/wait";
import { type Attempt, type ClientEvent, reduce } from "../../src/grpc-connect/attempt.ts";

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
  code: "ECONNREFUSED",
});

/** A client that is refused, times out, is accepted, loses its connection and is refused again. */
const EVENTS: readonly ClientEvent[] = [
  { type: "started", at: 0, behaviour: "refuse", attempt: 1, delay: 500 },
  { type: "failed", at: 10, error: refused, delay: 490 },
  { type: "started", at: 500, behaviour: "hang", attempt: 2, delay: 800 },
  { type: "failed", at: 2_500, error: new TimeoutError(2_000), delay: 0 },
  { type: "started", at: 2_501.5, behaviour: "accept", attempt: 3, delay: 1_280 },
  { type: "accepted", at: 2_600, delay: 500 },
  { type: "lost", at: 4_000 },
  { type: "started", at: 4_000, behaviour: "refuse", attempt: 1, delay: 500 },
];

/** The same, where the first attempt starts at that instant. */
export function eventsFrom(start: number): readonly ClientEvent[] {
  return EVENTS.map((event) => ({ ...event, at: start + event.at }));
}

/** The attempts after that many events. */
export function attemptsAfter(count: number, start = 0): readonly Attempt[] {
  return eventsFrom(start).slice(0, count).reduce(reduce, []);
}
