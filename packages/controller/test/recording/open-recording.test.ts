import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Recorder } from "@holdfast/controller/recording";
import { expect, it, onTestFinished, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

/** Records a program that stops at once. */
async function record(directory: string, name: string, identity: string): Promise<void> {
  const clock = new FakeClock();
  const recording = { directory };
  const recorder = new Recorder({
    ...{ name, identity, recording, clock, logger: silentLogger, program: {} },
  });
  await clock.run(() => recorder.run(async () => {}));
}

const folder = (): string => tempFolder(onTestFinished);

it("opens the only recording of a directory", async () => {
  const directory = folder();
  await record(directory, "web", "a");
  const { head, files } = await openRecording(directory);
  expect([head.name, head.identity, files.length]).toEqual(["web", "a", 1]);
});

it("opens one process, whatever the names of its files begin with", async () => {
  const directory = folder();
  await record(directory, "web", "2-a");
  await record(directory, "web-2", "a");
  await record(directory, "web", "b");
  expect(readdirSync(directory)).toHaveLength(3);
  const opened = async (options: object): Promise<unknown> => {
    const { head, files } = await openRecording(directory, options);
    return [head.name, head.identity, files.length];
  };
  expect(await opened({ name: "web-2" })).toEqual(["web-2", "a", 1]);
  expect(await opened({ name: "web", identity: "2-a" })).toEqual(["web", "2-a", 1]);
  expect(await opened({ identity: "b" })).toEqual(["web", "b", 1]);
  for (const file of readdirSync(directory))
    expect((await openRecording(join(directory, file))).files).toEqual([join(directory, file)]);
});

it("refuses a directory of several, and tells which", async () => {
  const directory = folder();
  await record(directory, "web", "a");
  await record(directory, "web-2", "a");
  const several = openRecording(directory);
  await expect(several).rejects.toThrow(RangeError);
  await expect(several).rejects.toThrow(
    /has 2 recordings: choose one by name and identity, or open one of its files: \{"name":"web-2","identity":"a"\} since 2000-01-01T00:00:00.000Z in web-2-a-000001.flight.gz; \{"name":"web","identity":"a"\} since /,
  );
  await expect(openRecording(directory, { identity: "a" })).rejects.toThrow(
    "has 2 recordings of the process a: ",
  );
  await expect(openRecording(directory, { name: "dns" })).rejects.toThrow(
    /no recording of dns in .*: it has \{"name":"web-2","identity":"a"\} since /,
  );
  await expect(openRecording(folder())).rejects.toThrow("its files end in .flight.gz");
});

it("keeps apart two runs of a process whose name stays", async () => {
  const directory = folder();
  for (let run = 0; run < 2; run++) await record(directory, "web", "web-0");
  await expect(openRecording(directory, { name: "web", identity: "web-0" })).rejects.toThrow(
    "has 2 recordings of web of the process web-0",
  );
  const file = join(directory, "web-web-0-000002.flight.gz");
  const { files, head } = await openRecording(file);
  expect([files, head.segment]).toEqual([[file], 1]);
});

it("leaves out a file that was killed before its head, and names one that is damaged", async () => {
  const directory = folder();
  const empty = join(directory, "web-b-000001.flight.gz");
  writeFileSync(empty, "");
  await expect(openRecording(directory)).rejects.toThrow(`${empty}:1: damaged`);
  await record(directory, "web", "a");
  expect((await openRecording(directory)).head.identity).toBe("a");
  writeFileSync(join(directory, "web-a-000002.flight.gz"), "no gzip");
  const recording = await openRecording(directory);
  expect(() => [...recording.lines()]).toThrow("web-a-000002.flight.gz: damaged: ");
});

it("warns of a package of another version, by its name", async () => {
  const directory = folder();
  await record(directory, "web", "a");
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const { head } = await openRecording(directory);
  expect(head.library).toEqual({ "@holdfast/controller": expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(warn).not.toHaveBeenCalled();
  const [file = ""] = readdirSync(directory).map((name) => join(directory, name));
  const [first = "", ...rest] = gunzipSync(readFileSync(file)).toString().split("\n");
  const library = { "@holdfast/controller": "9.8.7", "@holdfast/gone": "1.0.0" };
  const write = (changed: object): void =>
    writeFileSync(
      file,
      gzipSync([JSON.stringify({ ...JSON.parse(first), ...changed }), ...rest].join("\n")),
    );
  write({ library });
  await openRecording(directory);
  expect(warn.mock.calls).toEqual([
    [
      `${file}: recorded with @holdfast/controller 9.8.7, read with ${head.library?.["@holdfast/controller"]}: a replay may differ for that reason`,
      "RecordingWarning",
    ],
  ]);
  write({ library: undefined }); // of a version that did not note it
  await openRecording(directory);
  expect(warn).toHaveBeenCalledTimes(1);
});
