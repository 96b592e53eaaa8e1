import { randomUUID } from "node:crypto";
import type { Message } from "@holdfast/outbox";
import { pendingMessage } from "../src/message/pending-message.ts";
import { sample } from "./sample.ts";

/** A message as a relay hands it over; the id is another one each time. */
export function sampleMessage(facts: Partial<Message> = {}): Message {
  const { message } = pendingMessage(sample(1, { id: randomUUID() }), Date.UTC(2026, 10, 21));
  return { ...message, ...facts };
}
