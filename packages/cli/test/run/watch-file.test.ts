import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { watchFile } from "../../src/run/machine/watch-file.ts";

const PERIOD = 100;

const directory = tempFolder();

/** A watch of `watched.yaml` in a new directory, and the instants of its calls since the start. */
function watched(prepare: (place: string) => void) {
  const place = mkdtempSync(join(directory, "watched-"));
  prepare(place);
  const clock = new FakeClock();
  const start = clock.monotonic();
  const end = new AbortController();
  const instants: number[] = [];
  const onChange = (): unknown => instants.push(clock.monotonic() - start);
  // As the system says it, and at once: the clock is not that of the file system.
  const versionOf = async (file: string): Promise<string> => {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [ino, size, mtimeNs].join(" ");
  };
  const options = { clock, period: PERIOD, signal: end.signal, versionOf };
  const over = watchFile(join(place, "watched.yaml"), onChange, options);
  const write = (name: string, text: string): void => writeFileSync(join(place, name), text);
  return { place, clock, end, over, instants, write };
}

describe("watchFile", () => {
  it("reports the file at once, and an edit one period after it was seen", async () => {
    const { clock, instants, write } = watched((place) =>
      writeFileSync(join(place, "watched.yaml"), "a"),
    );
    await clock.step(5 * PERIOD);
    expect(instants).toEqual([0]);
    write("watched.yaml", "b");
    await clock.step(5 * PERIOD);
    expect(instants).toEqual([0, 700]);
  });

  it("reports a burst of edits once, after its end", async () => {
    const { clock, instants, write } = watched(() => undefined);
    for (let size = 1; size <= 5; size++) {
      write("watched.yaml", "x".repeat(size));
      await clock.step(PERIOD);
    }
    await clock.step(5 * PERIOD);
    expect(instants).toEqual([0, 600]);
  });

  it("reports the removal and the return of the file", async () => {
    const { clock, instants, write, place } = watched((place) =>
      writeFileSync(join(place, "watched.yaml"), "a"),
    );
    rmSync(join(place, "watched.yaml"));
    await clock.step(5 * PERIOD);
    write("watched.yaml", "a");
    await clock.step(5 * PERIOD);
    expect(instants).toEqual([0, 200, 700]);
  });

  it.each([
    {
      name: "an edit behind a symlink",
      prepare: (place: string) => {
        mkdirSync(join(place, "elsewhere"));
        writeFileSync(join(place, "elsewhere/real.yaml"), "a");
        symlinkSync("elsewhere/real.yaml", join(place, "watched.yaml"));
      },
      change: (place: string) => writeFileSync(join(place, "elsewhere/real.yaml"), "b2"),
    },
    {
      name: "the swap of ..data in a ConfigMap",
      prepare: (place: string) => {
        for (const version of ["..1", "..2"]) {
          mkdirSync(join(place, version));
          writeFileSync(join(place, version, "watched.yaml"), version);
        }
        symlinkSync("..1", join(place, "..data"));
        symlinkSync("..data/watched.yaml", join(place, "watched.yaml"));
      },
      change: (place: string) => {
        symlinkSync("..2", join(place, "..data_tmp"));
        renameSync(join(place, "..data_tmp"), join(place, "..data"));
      },
    },
    {
      name: "a replaced directory",
      prepare: (place: string) => {
        writeFileSync(join(place, "watched.yaml"), "a");
        mkdirSync(`${place}.new`);
        writeFileSync(join(`${place}.new`, "watched.yaml"), "a");
      },
      change: (place: string) => {
        renameSync(place, `${place}.old`);
        renameSync(`${place}.new`, place);
      },
    },
  ])("reports $name once", async ({ prepare, change }) => {
    const { clock, instants, place } = watched(prepare);
    await clock.step(PERIOD);
    change(place);
    await clock.step(5 * PERIOD);
    expect(instants).toEqual([0, 300]);
  });

  it("leaves no timer when its signal aborts", async () => {
    const { clock, end, over } = watched(() => undefined);
    await clock.step(PERIOD / 2);
    expect(clock.waiters()).toBe(1);
    end.abort();
    await over;
    expect(clock.waiters()).toBe(0);
  });

  it("leaves a look that hangs when its signal aborts", async () => {
    const clock = new FakeClock();
    const end = new AbortController();
    const looks: string[] = [];
    const versionOf = (file: string): Promise<string> => {
      looks.push(file);
      return looks.length < 3 ? Promise.resolve("1") : new Promise(() => undefined);
    };
    const options = { clock, period: PERIOD, signal: end.signal, versionOf };
    const over = watchFile("file", () => undefined, options);
    await clock.step(10 * PERIOD);
    expect(looks).toHaveLength(3); // It does not look again meanwhile.
    end.abort();
    await over;
    expect(clock.waiters()).toBe(0);
  });
});
