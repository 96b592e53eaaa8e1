import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../../../test/any-text.ts";
import { lines } from "../../src/transport/lines.ts";
import { BodyTooLongError } from "../../src/transport/read-body.ts";

/** A body that counts how often it was left before its end. */
function bodyOf(chunks: readonly Uint8Array[]) {
  const body = {
    read: 0,
    left: 0,
    async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
      let ended = false;
      try {
        for (const chunk of chunks) {
          body.read++;
          yield await Promise.resolve(chunk);
        }
        ended = true;
      } finally {
        if (!ended) body.left++;
      }
    },
  };
  return body;
}

async function textOf(body: AsyncIterable<Uint8Array>, limit?: number): Promise<string[]> {
  const texts: string[] = [];
  await readInto(texts, body, limit);
  return texts;
}

async function readInto(
  texts: string[],
  body: AsyncIterable<Uint8Array>,
  limit?: number,
): Promise<void> {
  for await (const received of lines(body, limit))
    for (const line of received) texts.push(line.toString("utf8"));
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("lines", () => {
  it("are the same wherever the chunks are cut", async () => {
    const word = anyText().map((text) => text.replace(/\n/g, ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(word),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (texts, sizes) => {
          const whole = bytes(texts.map((text) => `${text}\n`).join(""));
          const chunks: Uint8Array[] = [];
          for (let start = 0; start < whole.length; ) {
            const size = sizes[chunks.length % sizes.length] as number;
            chunks.push(whole.subarray(start, start + size), whole.subarray(0, 0));
            start += size;
          }
          const expected = texts
            .filter((text) => text !== "" && text !== "\r")
            .map((text) => Buffer.from(text).toString());
          expect(await textOf(bodyOf(chunks))).toEqual(expected);
        },
      ),
    );
  });

  it("end with the text after the last newline", async () => {
    expect(await textOf(bodyOf([bytes("a\nb"), bytes("c")]))).toEqual(["a", "bc"]);
    expect(await textOf(bodyOf([bytes("a\r\n\r\n\r")]))).toEqual(["a\r"]);
  });

  it("of at most the limit are yielded", async () => {
    expect(await textOf(bodyOf([bytes("ab"), bytes("cd\nabcd")]), 4)).toEqual(["abcd", "abcd"]);
  });

  it("come before the error of a later line in their chunk", async () => {
    const texts: string[] = [];
    const reading = readInto(texts, bodyOf([bytes("a\nbc\nabcde\n")]), 4);
    await expect(reading).rejects.toThrow(BodyTooLongError);
    expect(texts).toEqual(["a", "bc"]);
  });

  it.each([
    ["in one chunk", ["abcde\n", "x"]],
    ["over two chunks", ["abc", "de\n", "x"]],
    ["without an end", ["abc", "de", "x"]],
  ])("above the limit %s close the body at once", async (_, chunks) => {
    const body = bodyOf(chunks.map(bytes));
    const error = await textOf(body, 4).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BodyTooLongError);
    expect(String(error)).toBe("BodyTooLongError: a line of the response has more than 4 bytes");
    expect(body).toMatchObject({ read: chunks.length - 1, left: 1 });
  });

  it("close the body when their reader stops", async () => {
    const body = bodyOf([bytes("a\nb\n"), bytes("c\n")]);
    for await (const received of lines(body)) {
      expect([...received].map(String)).toEqual(["a", "b"]);
      break;
    }
    expect(body).toMatchObject({ read: 1, left: 1 });
  });

  it("pass on the error of the body", async () => {
    const reason = new Error("reset");
    const body = {
      async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
        yield await Promise.resolve(bytes("a\nb"));
        throw reason;
      },
    };
    const seen: string[] = [];
    await expect(readInto(seen, body)).rejects.toBe(reason);
    expect(seen).toEqual(["a"]);
  });
});
