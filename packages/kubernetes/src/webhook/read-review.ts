import type { IncomingMessage } from "node:http";

/** Most bytes of a body. An update sends two objects, with six bytes for a `<`. */
const MAX_BODY = 16 * 1_024 * 1_024;

/** Most bytes of all bodies that are not read to their end. */
const MAX_BODIES = 128 * 1_024 * 1_024;

let bodies = 0;

/**
 * The body of a request.
 *
 * @returns its bytes, or the status of a refusal: 400 for a body that was cut, 413 for one above 16 MiB, 503 while other
 * bodies take 128 MiB
 */
export function readBody(request: IncomingMessage): Promise<Buffer | 400 | 413 | 503> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY) return Promise.resolve(413);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const end = (result: Buffer | 400 | 413 | 503): void => {
      if (isOver) return;
      isOver = true;
      bodies -= size;
      chunks.length = 0;
      resolve(result);
    };
    // Listeners stay: to take one away costs more than the rest. What follows a refusal is dropped.
    request.on("data", (chunk: Buffer) => {
      if (isOver) return;
      size += chunk.length;
      bodies += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY) end(413);
      else if (bodies > MAX_BODIES) end(503);
    });
    request.on("end", () =>
      end(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    );
    request.on("close", () => end(400));
    request.on("error", () => end(400));
  });
}
