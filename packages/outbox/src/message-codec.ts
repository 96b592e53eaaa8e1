import type { Codec } from "@holdfast/controller/recording";
import type { Message } from "./message/message.ts";
import { storedPayloadOf, withPayload } from "./message/stored-payload.ts";

/**
 * Keeps messages in a recording as they are stored. The payload of a message is sent byte for byte, and no copy of a message
 * has these bytes. For a `Recorder` and a `Player` of `@holdfast/controller/recording` with the store and the publisher of a
 * `Relay`: see [From an incident to a test](../../../docs/from-an-incident-to-a-test.md#without-kubernetes).
 */
export const messageCodec: Codec = {
  name: "message",
  is: (value) => storedPayloadOf(value as Message) !== undefined,
  encode(value) {
    const message = value as Message;
    const names = Object.keys(message) as (keyof Message)[];
    const dataOf = (name: keyof Message): unknown =>
      name === "payload" ? storedPayloadOf(message) : message[name];
    return Object.fromEntries(names.map((name) => [name, dataOf(name)]));
  },
  decode(data) {
    const message = data as Message;
    return withPayload(message, message.payload as string);
  },
};
