import { TerminalError } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { storedPayloadOf } from "../message/stored-payload.ts";

/**
 * The payload of a message as JSON: the text that is stored, byte for byte.
 *
 * @throws TerminalError if there is none: the same message would fail again
 */
export function bodyOf(message: Message): string {
  const stored = storedPayloadOf(message);
  if (stored !== undefined) return stored;
  try {
    const body = JSON.stringify(message.payload) as string | undefined;
    if (body === undefined) throw new TypeError("message.payload must be a JSON value");
    return body;
  } catch (error) {
    throw new TerminalError("message cannot be encoded", { cause: error });
  }
}
