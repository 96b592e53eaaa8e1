import { realClock } from "@holdfast/clock";
import { RepeatedLines } from "@holdfast/kit";
import type { OutboxEvent } from "@holdfast/outbox";
import { expect, it } from "vitest";
import { report } from "../src/task.ts";
import { sampleMessage } from "./sample-message.ts";

const message = sampleMessage();
const claim = { message, relay: "relay-1", number: 2, until: 60_000 };
const facts = {
  id: message.id,
  topic: message.topic,
  key: message.key,
  relay: "relay-1",
  claim: 2,
};
const failure = { now: 1, error: "Error: refused", dueAt: 10_001 };
const error = new Error("unreachable");

it.each<[OutboxEvent, ...line: unknown[]]>([
  [{ type: "claimed", count: 3, duration: 5 }],
  [{ type: "delivered", claim }, "debug", facts, "message delivered"],
  [{ type: "released", claim }, "debug", facts, "message released"],
  [{ type: "lost", claim }, "warn", facts, "outcome ignored; the claim is not the newest"],
  [{ type: "failed", claim, failure }, "warn", { ...facts, ...failure }, "attempt failed"],
  [{ type: "expired", claim, failure }, "warn", { ...facts, ...failure }, "claim expired"],
  [{ type: "dead", claim, failure }, "error", { ...facts, ...failure }, "message is a dead letter"],
  [
    { type: "unwritten", claim, error },
    "error",
    { ...facts, err: error },
    "outcome not stored before the claim expired; message will be sent again",
  ],
  [
    { type: "invalid", row: { id: "a", problem: "no key" } },
    "error",
    { id: "a", problem: "no key" },
    "row is not a valid message; marked dead",
  ],
  [{ type: "removed", count: 7 }, "info", { count: 7 }, "delivered messages removed"],
  [{ type: "error", error }, "error", { err: error }, "request to the store failed; repeating it"],
])("logs the event %o, and passes it on", (event, ...line) => {
  const logged: unknown[][] = [];
  const write =
    (level: string) =>
    (...args: unknown[]) =>
      void logged.push([level, ...args]);
  const logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
  const events: OutboxEvent[] = [];
  const lines = new RepeatedLines(realClock);
  report(event, {
    logger,
    lines,
    messageLines: lines,
    onEvent: (passed) => void events.push(passed),
  });
  expect(logged).toEqual(line.length === 0 ? [] : [line]);
  expect(events).toEqual([event]);
});
