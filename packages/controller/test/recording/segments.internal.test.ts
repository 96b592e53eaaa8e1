import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Segments, type SegmentsOptions } from "../../src/recording/segments.ts";

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

const linesOf = (path: string): { k: string; n?: number; lost?: number; segment?: number }[] =>
  gunzipSync(readFileSync(path), { finishFlush: constants.Z_SYNC_FLUSH })
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

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
    const { directory, segments } = open({ segmentBytes: 1, maxBytes: 250 });
    for (let n = 1; n <= 20; n++) {
      segments.write({ k: "T", n });
      await segments.flush();
    }
    await segments.close();
    const files = readdirSync(directory).sort();
    const sizes = files.map((file) => statSync(join(directory, file)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250);
    expect(files.at(-1)).toBe("greeter-a-000020.flight.gz");
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
});
