import { BodyTooLongError } from "./read-body.ts";

/** Longest line of a watch that is read, in bytes. */
const MAX_LINE: number = 16 * 1024 * 1024;

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** Ends the text after the last newline. */
const END: Buffer = Buffer.of(NEWLINE);

/**
 * Cuts a body into lines, each without its newline. Empty lines are left out, with or without a carriage return. Text
 * after the last newline is a line too. A line may share memory with the chunk it came in.
 *
 * The lines that end in a chunk come together: a step of an async iteration for each would cost a tenth of its JSON. Read
 * them to the last before the next.
 *
 * @param body - the chunks. Leaving the iteration early leaves this one too
 * @param limit - longest line, in bytes
 * @throws BodyTooLongError for a line above `limit`, as soon as it is above; the errors of `body`
 */
export async function* lines(
  body: AsyncIterable<Uint8Array>,
  limit: number = MAX_LINE,
): AsyncGenerator<Iterable<Buffer>, void, undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  function* linesOf(chunk: Buffer): Generator<Buffer, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      size += end - start;
      if (size > limit) throw tooLong(limit);
      const last = chunk.subarray(start, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last], size);
      parts = [];
      size = 0;
      start = end + 1;
      const isEmpty = line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN);
      if (!isEmpty) yield line;
    }
    if (start === chunk.length) return;
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > limit) throw tooLong(limit);
  }
  for await (const { buffer, byteOffset, byteLength } of body)
    yield linesOf(Buffer.from(buffer, byteOffset, byteLength));
  yield linesOf(END);
}

function tooLong(limit: number): BodyTooLongError {
  return new BodyTooLongError(`a line of the response has more than ${limit} bytes`);
}
