import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { type Fold, Snapshots } from "../../src/recording/snapshots.ts";
import type { Line } from "../../src/recording/tape.ts";

/** Keeps all lines. */
const keepsAll = (): Fold => {
  const kept: Line[] = [];
  return { take: (line) => void kept.push(line), lines: () => kept };
};

/** Snapshots of segments whose only line has their number. */
function open(makeFold: () => Fold) {
  const directory = tempFolder(onTestFinished);
  const log: object[] = [];
  const note = (details: object): void => void log.push(details);
  const logger = { debug: note, info: note, warn: note, error: note };
  const snapshots = new Snapshots({ directory, logger, fold: makeFold });
  onTestFinished(() => snapshots.stop());
  const add = (n: number): void => {
    const file = join(directory, `${n}`);
    writeFileSync(file, gzipSync(`${JSON.stringify({ k: "T", n })}\n`));
    snapshots.add(file, n + 1);
  };
  /** A segment ends. Resolves at the end of the thread that folds it. */
  const fold = async (n: number): Promise<void> => {
    const begun = once(process, "worker");
    add(n);
    const [worker] = await begun;
    await once(worker, "exit");
  };
  /** A file gets the latest snapshot: the numbers of its lines. */
  const numbers = (file: string): unknown => {
    const packed = snapshots.take(join(directory, file));
    if (packed === undefined) return undefined;
    writeFileSync(join(directory, file), packed);
    const [, ...lines] = `${gunzipSync(packed)}`.trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line).n);
  };
  return { log, snapshots, add, fold, numbers };
}

it("has each segment once, also those that ended while a snapshot waited for its file", async () => {
  const { log, add, fold, numbers } = open(keepsAll);
  await fold(1);
  const second = fold(2);
  expect(numbers("a")).toEqual([1]);
  add(3); // the thread folds the first two
  await second;
  expect(numbers("b")).toEqual([1, 2]);
  expect(numbers("b")).toBeUndefined();
  await fold(4);
  expect(numbers("c")).toEqual([1, 2, 3, 4]);
  expect(log).toMatchObject([{ segment: 4, problem: "the thread folds an earlier segment" }]);
});

it("ends its thread with the program, and says nothing of it", async () => {
  const endless = (): Fold => {
    for (;;);
  };
  const { log, snapshots, fold } = open(endless);
  const ended = fold(1);
  snapshots.stop();
  await ended;
  expect(log).toEqual([]);
});

it("makes no more when a segment is gone that no snapshot has", async () => {
  const { log, snapshots, numbers } = open(keepsAll);
  snapshots.add("/gone", 2);
  await expect.poll(() => log.length).toBe(1);
  expect(log).toMatchObject([{ segment: 2, problem: expect.stringContaining("ENOENT") }]);
  snapshots.add("/gone", 3);
  expect([numbers("a"), log.length]).toEqual([undefined, 1]);
});
