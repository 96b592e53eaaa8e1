import { TerminalError } from "@holdfast/wait";
import type { Message } from "../message/message.ts";

/**
 * The payload of a message as JSON.
 *
 * @throws TerminalError if there is none: the same message would fail again
 */
export function bodyOf({ payload }: Message): string {
  try {
    const body = JSON.stringify(payload) as string | undefined;
    if (body === undefined) throw new TypeError("message.payload must be a JSON value");
    return body;
  } catch (error) {
    throw new TerminalError("message cannot be encoded", { cause: error });
  }
}
