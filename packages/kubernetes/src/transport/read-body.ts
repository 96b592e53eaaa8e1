/** A body that is longer than allowed. */
export class BodyTooLongError extends Error {
  override readonly name = "BodyTooLongError";
}

/**
 * Reads a body to its end.
 *
 * @param name - the request, for the error
 * @throws BodyTooLongError if it has more than `limit` bytes; the connection is closed then
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  name: string,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit)
      throw new BodyTooLongError(`${name}: the response has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Reads at most the first `limit` bytes of a body, and closes the connection if there are more. */
export async function readStart(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
