import type { Message } from "./message.ts";

/** Payloads as they are stored. A copy of a message has none: its payload may be another. */
const STORED = new WeakMap<Message, string>();

/**
 * A message whose payload is sent as it is stored, byte for byte, and parsed only if something reads it: parsing changes
 * numbers such as 10.00 or 9007199254740993, and costs several times the memory.
 *
 * @param json - JSON that has been checked
 */
export function withPayload(message: Message, json: string): Message {
  let parsed: { readonly payload: unknown } | undefined;
  Object.defineProperty(message, "payload", {
    enumerable: true,
    get: () => {
      parsed ??= { payload: JSON.parse(json) };
      return parsed.payload;
    },
  });
  STORED.set(message, json);
  return message;
}

/** The payload of a message as it is stored; undefined for a message that a program has put together. */
export function storedPayloadOf(message: Message): string | undefined {
  return STORED.get(message);
}

/** The size of a stored payload, in bytes if it is ASCII; 0 for a message that a program has put together. */
export function bytesOf(message: Message): number {
  return STORED.get(message)?.length ?? 0;
}
