import fc from "fast-check";
import { expect, it } from "vitest";
import { Frames } from "../../src/outbox/database/frames.ts";

function startup(code: number, rest = ""): Buffer {
  const bytes = Buffer.alloc(8 + rest.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(code, 4);
  bytes.write(rest, 8, "latin1");
  return bytes;
}

function message(type: string, body: string): Buffer {
  const bytes = Buffer.alloc(5 + Buffer.byteLength(body));
  bytes.write(type, 0, "latin1");
  bytes.writeUInt32BE(bytes.length - 1, 1);
  bytes.write(body, 5);
  return bytes;
}

const SSL = 80_877_103;
const VERSION_3 = 196_608;
const body = fc.string({ maxLength: 30 });
const query = fc.tuple(fc.constantFrom("Q", "P", "B", "D", "E", "S"), body);

it("finds the same messages in any chunks", () => {
  fc.assert(
    fc.property(
      fc.array(query, { maxLength: 8 }),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
      (queries, asksForSsl, cuts) => {
        const sent = [
          ...(asksForSsl ? [{ type: undefined, bytes: startup(SSL) }] : []),
          { type: undefined, bytes: startup(VERSION_3, "user\0postgres\0\0") },
          ...queries.map(([type, text]) => ({ type, bytes: message(type, text) })),
        ];
        let rest = Buffer.concat(sent.map(({ bytes }) => bytes));
        const frames = new Frames();
        const found: { type: string | undefined; text: string }[] = [];
        const add = (length: number): void => {
          for (const { type, bytes } of frames.add(rest.subarray(0, length)))
            found.push({ type, text: bytes.toString("hex") });
          rest = rest.subarray(length);
        };
        for (const cut of cuts) add(cut);
        add(rest.length);
        expect(found).toEqual(
          sent.map(({ type, bytes }) => ({ type, text: bytes.toString("hex") })),
        );
      },
    ),
  );
});
