import { PassThrough, Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { createOutput, Relay } from "../src/output.ts";

/** A stream whose reader has stopped reading, until told. */
class Stopped extends Writable {
  read = "";
  #next: (() => void) | undefined;
  #isStopped = true;

  constructor() {
    super({ highWaterMark: 16_384 }); // Node 22 and later have another default.
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.read += chunk.toString();
    if (this.#isStopped) this.#next = done;
    else done();
  }

  goOn(): void {
    this.#isStopped = false;
    this.#next?.();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("lines that nobody reads are counted beyond 1 MB, in their place", async () => {
  const target = new Stopped();
  const { info } = createOutput(target, {});
  for (let line = 0; line < 100_000; line++) info(`line ${line}`);
  expect(target.writableLength).toBeLessThan(1_000_100);
  target.goOn();
  await settled();
  info("the end");
  const lines = target.read.split("\n");
  const [, left] =
    /^holdfast: (\d+) lines left out here: nobody read them$/.exec(lines.at(-3) ?? "") ?? [];
  expect(lines.length - 3 + Number(left)).toBe(100_000);
  expect(lines.slice(0, -3)).toEqual(
    Array.from({ length: 100_000 - Number(left) }, (_, index) => `holdfast: line ${index}`),
  );
  expect(lines.at(-2)).toBe("holdfast: the end");
});

test("streams of processes that ended wait for a reader, at most 500 of them", async () => {
  const target = new Stopped();
  const relay = new Relay(target);
  const text = "x".repeat(20_000);
  const streams = Array.from({ length: 600 }, () => {
    const stream = new PassThrough();
    stream.on("data", (chunk: Buffer) => relay.write(chunk, stream));
    stream.end(text);
    return stream;
  });
  await settled();
  expect(streams.filter((stream) => stream.isPaused())).toHaveLength(500);
  expect(target.writableLength).toBe(500 * text.length);
  target.goOn();
  await settled();
  expect(relay.isWaiting).toBe(false);
  const [all, note] = target.read.split("holdfast: ");
  expect([all?.length, note]).toEqual([
    500 * text.length,
    `${100 * text.length} bytes left out here: nobody read them\n`,
  ]);
});

test("a stream is read at the pace of the reader", async () => {
  const target = new Stopped();
  const relay = new Relay(target);
  const parts = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(20_000));
  const source = Readable.from(parts);
  source.on("data", (chunk: string) => relay.write(chunk, source));
  await settled();
  expect([target.writableLength, relay.isWaiting]).toEqual([20_000, true]);
  target.goOn();
  while (!source.closed) await settled();
  expect(target.read).toBe(parts.join(""));
});
