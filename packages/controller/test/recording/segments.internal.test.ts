import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { deferred } from "@holdfast/kit";
import { describe, expect, it, onTestFinished } from "vitest";
import { onDisk } from "../../../../test/on-disk.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Segments, type SegmentsOptions } from "../../src/recording/segments.ts";
import type { Fold } from "../../src/recording/snapshots.ts";
import type { Line } from "../../src/recording/tape.ts";

/** Segments in a new folder, and the lines of the log. */
function open(options: Partial<SegmentsOptions> = {}) {
  const directory = join(tempFolder(onTestFinished), "flight");
  const log: string[] = [];
  const note = (_: object, message: string): void => void log.push(message);
  const segments = new Segments({
    ...{ directory, name: "greeter", identity: "a", clock: realClock },
    ...{ maxBytes: 1e9, segmentBytes: 1e9, segmentTime: 1e9, flushInterval: 1e9 },
    logger: { debug: note, info: note, warn: note, error: note },
    head: (segment) => ({ k: "head", v: 1, name: options.name ?? "greeter", segment }),
    ...options,
  });
  return { directory, log, segments };
}

/** Keeps each line of kind "T" whose number is below 100. */
const fold = (): Fold => {
  const kept: Line[] = [];
  return {
    take: (line) => {
      if (line.k === "T" && Number(line.n) < 100) kept.push(line);
    },
    lines: () => [...kept, { k: "o" }],
  };
};

const full = (): Error =>
  Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

const linesOf = (path: string): { k: string; n?: number; lost?: number; segment?: number }[] =>
  gunzipSync(readFileSync(path), { finishFlush: constants.Z_SYNC_FLUSH })
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

function isWhole(file: Buffer): boolean {
  try {
    return gunzipSync(file).length > 0;
  } catch {
    return false;
  }
}

describe("Segments", () => {
  it("writes lines after the head, for its user alone", async () => {
    const { directory, segments } = open();
    for (let n = 0; n < 3; n++) segments.write({ k: "T", n });
    await segments.close();
    const [file = ""] = readdirSync(directory);
    expect(file).toBe("greeter-a-000001.flight.gz");
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    const found = linesOf(join(directory, file)).map(({ k, n }) => `${k}${n ?? ""}`);
    expect(found).toEqual(["head", "T0", "T1", "T2"]);
  });

  it("shows all lines of a flush to a reader, before the file ends", async () => {
    const { directory, segments } = open();
    segments.write({ k: "T", n: 1 });
    await segments.flush();
    const path = join(directory, readdirSync(directory)[0] as string);
    expect(linesOf(path)).toHaveLength(2);
    segments.write({ k: "T", n: 2 });
    await segments.flush();
    expect(linesOf(path)).toHaveLength(3);
    await segments.close();
  });

  it("keeps a ring of the bytes that it may have, and one segment more", async () => {
    const { directory, segments } = open({ segmentBytes: 100, maxBytes: 250 });
    const sizes = (): number[] =>
      readdirSync(directory).map((file) => statSync(join(directory, file)).size);
    for (let n = 1; n <= 60; n++) {
      segments.write({ k: "T", n });
      await segments.flush();
      const sum = sizes().reduce((all, size) => all + size, 0);
      expect(sum).toBeLessThanOrEqual(250 + Math.max(...sizes()));
    }
    await segments.close();
    const files = readdirSync(directory).sort();
    expect(sizes().reduce((all, size) => all + size, 0)).toBeLessThanOrEqual(250);
    expect(files).not.toContain("greeter-a-000001.flight.gz");
    expect(files.length).toBeGreaterThan(1);
  });

  it("leaves the segments of a program whose name begins alike", async () => {
    const { directory, segments } = open({ segmentBytes: 1, maxBytes: 1 });
    const others = open({ directory, name: "greeter-sync" });
    others.segments.write({ k: "T", n: 1 });
    await others.segments.close();
    segments.write({ k: "T", n: 1 });
    await segments.close();
    expect(readdirSync(directory)).toEqual(["greeter-sync-a-000001.flight.gz"]);
  });

  it("tells of a directory that cannot be written in once, and goes on with a gap when it can", async () => {
    const { directory, log, segments } = open();
    writeFileSync(directory, "a file in its place");
    for (let n = 1; n <= 4; n++) {
      segments.write({ k: "T", n });
      await segments.flush();
    }
    expect(log).toEqual(["recording has a gap; the program continues"]);
    rmSync(directory);
    mkdirSync(directory);
    segments.write({ k: "T", n: 5 });
    await segments.close();
    const path = join(directory, readdirSync(directory)[0] as string);
    expect(linesOf(path).slice(1)).toEqual([
      { k: "gap", lost: 4 },
      { k: "T", n: 5 },
    ]);
    expect(log).toHaveLength(1);
  });

  it("gives up lines that a slow disk does not take, and holds no more than 8 MiB", async () => {
    const { directory, log, segments } = open();
    const body = "x".repeat(1024 * 1024);
    for (let n = 1; n <= 20; n++) segments.write({ k: "c", n, body }); // no turn for the disk in between
    await segments.close();
    expect(log).toEqual(["recording has a gap; the program continues"]);
    const path = join(directory, readdirSync(directory)[0] as string);
    const gap = linesOf(path).find(({ k }) => k === "gap");
    expect(gap?.lost).toBeGreaterThan(5);
    const kept = linesOf(path).filter(({ k }) => k === "c").length;
    expect((gap?.lost as number) + kept).toBe(20);
  });

  it("tells of lines that were given up while a slow disk took others", async () => {
    const { directory, log, segments } = open();
    const held: (() => void)[] = [];
    let isSlow = false;
    await onDisk(async (write) => {
      if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
      await write();
    });
    segments.write({ k: "T", n: 1 });
    await segments.flush();
    isSlow = true;
    segments.write({ k: "T", n: 2 });
    const flushing = segments.flush();
    await expect.poll(() => held.length).toBe(1);
    const body = "x".repeat(1024 * 1024);
    for (let n = 3; n <= 30; n++) segments.write({ k: "c", n, body });
    isSlow = false;
    for (const release of held) release();
    await flushing;
    await segments.close();
    const found = linesOf(join(directory, readdirSync(directory)[0] as string));
    const kinds = found.map(({ k, n }) => (k === "c" ? k : `${k}${n ?? ""}`));
    expect(kinds.slice(0, 4)).toEqual(["head", "T1", "T2", "gap"]);
    const kept = kinds.filter((kind) => kind === "c").length;
    expect((found[3]?.lost as number) + kept).toBe(28);
    expect(log).toEqual(["recording has a gap; the program continues"]);
  });

  it("leaves what was written when the disk is full, and goes on with a gap when it is not", async () => {
    const { directory, log, segments } = open();
    let room = Number.POSITIVE_INFINITY;
    await onDisk(async (write, bytes) => {
      if (bytes.length <= room) return await write();
      throw full();
    });
    const put = async (n: number): Promise<void> => {
      segments.write({ k: "T", n });
      await segments.flush();
    };
    await put(1);
    room = 0;
    for (const n of [2, 3, 4]) await put(n);
    expect(readdirSync(directory)).toHaveLength(1); // and none for each attempt
    room = Number.POSITIVE_INFINITY;
    await put(5);
    await segments.close();
    const files = readdirSync(directory).sort();
    const found = files.map((file) => linesOf(join(directory, file)));
    expect(found).toEqual([
      [expect.objectContaining({ k: "head", segment: 1 }), { k: "T", n: 1 }],
      [expect.objectContaining({ k: "head", segment: 2 }), { k: "gap", lost: 3 }, { k: "T", n: 5 }],
    ]);
    expect(log).toEqual(["recording has a gap; the program continues"]);
  });

  it("leaves a file that can be read when a write has failed in its middle", async () => {
    const { directory, segments } = open();
    let isFull = false;
    await onDisk(async (write, bytes) => {
      if (!isFull) return await write();
      bytes.fill(0, bytes.length / 2);
      await write();
      throw full();
    });
    segments.write({ k: "T", n: 1 });
    await segments.flush();
    isFull = true;
    segments.write({ k: "T", n: 2 });
    await segments.flush();
    isFull = false;
    segments.write({ k: "T", n: 3 });
    await segments.close();
    const files = readdirSync(directory).sort();
    const numbers = files.map((file) => linesOf(join(directory, file)).map(({ n }) => n));
    expect(numbers).toEqual([
      [undefined, 1],
      [undefined, undefined, 3],
    ]);
  });

  it("ends within a second of a disk that hangs, and tells how many lines it has not got", async () => {
    const log: unknown[] = [];
    const note = (details: object, message: string): void => void log.push({ ...details, message });
    const diskClock = new FakeClock();
    const logger = { debug: note, info: note, warn: note, error: note };
    const { directory, segments } = open({ diskClock, logger });
    const { promise: recovered, resolve: recover } = deferred<void>();
    await onDisk(async (write) => {
      await recovered;
      await write();
    });
    for (let n = 1; n <= 3; n++) segments.write({ k: "T", n });
    const ended: number[] = [];
    const start = diskClock.monotonic();
    const closing = segments.close().then(() => ended.push(diskClock.monotonic() - start));
    await diskClock.step(999);
    expect(ended).toEqual([]);
    await diskClock.step(1);
    await closing;
    expect(ended).toEqual([1_000]);
    expect(log).toEqual([
      {
        ...{ directory, lines: 3, problem: "the disk did not answer for 1000 ms" },
        message: "recording lacks its end; the program ends",
      },
    ]);
    expect(diskClock.waiters()).toBe(0);
    segments.write({ k: "T", n: 4 }); // a timer that the program has left
    recover();
    const file = (): Buffer => readFileSync(join(directory, readdirSync(directory)[0] as string));
    await expect.poll(() => isWhole(file())).toBe(true); // It is closed then.
    expect(log).toHaveLength(1);
  });

  it("writes after the interval, and not before", async () => {
    const clock = new FakeClock();
    const { directory, segments } = open({ clock, flushInterval: 1_000 });
    segments.write({ k: "T", n: 1 });
    await clock.step(999);
    expect(existsSync(directory)).toBe(false);
    await clock.step(1);
    await segments.flush();
    expect(linesOf(join(directory, readdirSync(directory)[0] as string))).toHaveLength(2);
    await segments.close();
    expect(clock.waiters()).toBe(0);
  });

  it("writes a line that came during a slow write within the interval, too", async () => {
    const clock = new FakeClock();
    const { directory, segments } = open({ clock, flushInterval: 1_000 });
    segments.write({ k: "T", n: 1 });
    let release = (): void => {};
    let isSlow = true;
    await onDisk(async (write) => {
      if (isSlow)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      await write();
    });
    const flushing = segments.flush();
    const isHeld = (before: () => void): Promise<unknown> =>
      expect.poll(() => release !== before).toBe(true);
    const none = release;
    await isHeld(none); // the head
    const head = release;
    head();
    await isHeld(head);
    segments.write({ k: "T", n: 2 });
    await clock.step(600);
    release();
    await flushing;
    const lines = (): number =>
      linesOf(join(directory, readdirSync(directory)[0] as string)).length;
    const body = release;
    await clock.step(399);
    expect([clock.waiters(), lines()]).toEqual([1, 2]);
    await clock.step(1);
    await isHeld(body);
    isSlow = false;
    release();
    await segments.close();
    expect(lines()).toBe(3);
  });

  it("keeps the segments of a process that had the same name before", async () => {
    const before = open();
    before.segments.write({ k: "T", n: 1 });
    await before.segments.close();
    const { directory } = before;
    const { log, segments } = open({ directory });
    segments.write({ k: "T", n: 2 });
    await segments.close();
    const files = readdirSync(directory).sort();
    expect(files).toEqual(["greeter-a-000001.flight.gz", "greeter-a-000002.flight.gz"]);
    const found = files.map((file) => linesOf(join(directory, file)));
    expect(found.map(([head]) => head?.segment)).toEqual([1, 1]);
    expect(log).toEqual([]);
  });

  it("makes a file of every name", async () => {
    const { directory, log, segments } = open({ name: "team/web", identity: "../a b" });
    segments.write({ k: "T", n: 1 });
    await segments.close();
    expect(readdirSync(directory)).toEqual(["team_web-.._a_b-000001.flight.gz"]);
    expect(log).toEqual([]);
  });

  describe("snapshots", () => {
    /** Fills a segment, which ends. */
    const fill = async (segments: Segments): Promise<void> => {
      segments.write({ k: "R", s: randomBytes(20_000).toString("hex") });
      await segments.flush();
    };
    const filesOf = (directory: string): string[] =>
      existsSync(directory)
        ? readdirSync(directory)
            .sort()
            .map((file) => join(directory, file))
        : [];
    /** The snapshots, each with its segment and the numbers of its lines. */
    const snapshotsIn = (directory: string): { segment: unknown; numbers: unknown[] }[] =>
      filesOf(directory).flatMap((file) => {
        const found = linesOf(file);
        const at = found.findIndex(({ k, segment }) => k === "o" && segment !== undefined);
        if (at < 0) return [];
        const end = found.findIndex(({ k }, index) => k === "o" && index > at);
        const numbers = found.slice(at + 1, end).map(({ n }) => n);
        return [{ segment: found[at]?.segment, numbers }];
      });
    /** Waits for the worker: a snapshot comes with a line. */
    const written = async (segments: Segments, isOver: () => boolean): Promise<void> => {
      await expect
        .poll(async () => {
          segments.write({ k: "R" });
          await segments.flush();
          return isOver();
        })
        .toBe(true);
    };

    it("each has what is left of the snapshot before and of the segments since", async () => {
      const { directory, log, segments } = open({ fold, segmentBytes: 10_000 });
      for (let n = 1; n <= 3; n++) {
        segments.write({ k: "T", n });
        await fill(segments);
        await written(segments, () => snapshotsIn(directory).length === n);
      }
      await segments.close();
      expect(snapshotsIn(directory)).toEqual([
        { segment: 2, numbers: [1] },
        { segment: 3, numbers: [1, 2] },
        { segment: 4, numbers: [1, 2, 3] },
      ]);
      expect(log).toEqual([]);
    });

    it("keep the ring of the bytes that it may have, and one segment with its snapshot more", async () => {
      const maxBytes = 60_000;
      const { directory, segments } = open({ fold, segmentBytes: 10_000, maxBytes });
      segments.write({ k: "T", n: 1 });
      for (let number = 2; number < 9; number++) {
        await fill(segments);
        await written(segments, () => snapshotsIn(directory).at(-1)?.segment === number);
        const sizes = filesOf(directory).map((file) => statSync(file).size);
        const sum = sizes.reduce((all, size) => all + size, 0);
        expect(sum).toBeLessThanOrEqual(maxBytes + Math.max(...sizes));
      }
      await segments.close();
      const [first] = snapshotsIn(directory);
      expect(first?.segment).toBeGreaterThan(2);
      expect(first?.numbers).toEqual([1]);
    });

    it("take no more of a file than its lines, which go on until then", async () => {
      const whole = (): Fold => {
        const kept: Line[] = [];
        return { take: (line) => void kept.push(line), lines: () => [...kept, { k: "o" }] };
      };
      const { directory, segments } = open({ fold: whole, segmentBytes: 1_000 });
      await fill(segments);
      await written(segments, () => snapshotsIn(directory).length === 1);
      for (let more = 0; more < 3; more++) {
        segments.write({ k: "R", s: randomBytes(1_000).toString("hex") });
        await segments.flush();
        expect(filesOf(directory)).toHaveLength(2);
      }
      await fill(segments);
      segments.write({ k: "R" });
      await segments.flush();
      expect(filesOf(directory)).toHaveLength(3);
      await segments.close();
    });

    it("are missing if the worker dies, which the log tells, and the recording goes on", async () => {
      const dies = (): Fold => {
        throw new Error("out of memory");
      };
      const { directory, log, segments } = open({ fold: dies, segmentBytes: 10_000 });
      await fill(segments);
      await written(segments, () => log.length > 0);
      await fill(segments);
      await segments.close();
      expect(new Set(log)).toEqual(new Set(["recording lacks a snapshot; the program continues"]));
      const lines = filesOf(directory).flatMap(linesOf);
      expect(lines.filter(({ k }) => k === "gap" || k === "o")).toEqual([]);
      expect(filesOf(directory)).toHaveLength(2);
    });

    it("come later if the worker is slow, for the segment that they are the begin of", async () => {
      const { directory, segments } = open({ fold, segmentBytes: 10_000 });
      for (let n = 1; n <= 3; n++) {
        segments.write({ k: "T", n });
        await fill(segments);
      }
      const last = async (): Promise<unknown> => {
        await fill(segments);
        return snapshotsIn(directory).at(-1)?.numbers;
      };
      await expect.poll(last).toEqual([1, 2, 3]);
      await segments.close();
      expect(snapshotsIn(directory)[0]).toEqual({ segment: 2, numbers: [1] });
    });

    it("are not made after a gap, of which nobody knows what it had", async () => {
      const { directory, log, segments } = open({ fold, segmentBytes: 10_000 });
      let isFull = true;
      await onDisk(async (write) => {
        if (isFull) throw full();
        await write();
      });
      await fill(segments);
      isFull = false;
      await fill(segments);
      await fill(segments);
      await segments.close();
      expect(snapshotsIn(directory)).toEqual([]);
      expect(log).toEqual(["recording has a gap; the program continues"]);
    });
  });
});
