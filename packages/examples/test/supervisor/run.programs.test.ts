import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { afterEach, expect, it, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { parseOptions } from "../../src/supervisor/options.ts";
import { run } from "../../src/supervisor/run.ts";

const directory = tempFolder();
afterEach(() => vi.unstubAllEnvs());

/** Replicas need Linux. */
const ROLES = process.platform === "linux" ? [[[]], [["--replicas", "2"]]] : [[[]]];

/** What a run that cannot begin prints, and its exit code. Spells the file as the caller does. */
async function refusal(
  file: string,
  ...more: readonly string[]
): Promise<{ code: number; text: string }> {
  let text = "";
  const write = (chunk: string): void => {
    text += chunk;
  };
  const stderr = { write, on: () => stderr } as unknown as NodeJS.WriteStream;
  const host = { clock: new FakeClock(), stdout: stderr, stderr };
  const parsed = parseOptions(["--file", file, ...more]);
  if (parsed.kind === "print") throw new Error(parsed.text);
  const { options } = parsed;
  const code = await run(options, host);
  return { code, text: text.replaceAll(options.file, file) };
}

it("shows the lines of a broken manifest and starts nothing", async () => {
  const file = join(directory, "broken.yaml");
  writeFileSync(file, "grace: soon\nprocesses: { web: {} }\n");
  expect(await refusal(file)).toEqual({
    code: 2,
    text: [
      `${file}:1:8: grace is "soon"; expected a duration above 0, such as "500ms", "2s" or "1m30s"`,
      "    1 | grace: soon",
      "      |        ^",
      `${file}:2:14: processes.web.command is missing; expected the program to run`,
      "    2 | processes: { web: {} }",
      "      |              ^",
      "Nothing was started.",
      "",
    ].join("\n"),
  });
});

it.each([
  { file: "no.yaml", want: "no.yaml does not exist: create it or correct --file" },
  { file: directory, want: `${directory} is a directory: name the file in it with --file` },
])("names the next step for $want", async ({ file, want }) => {
  expect(await refusal(file)).toEqual({ code: 2, text: `${want}\nNothing was started.\n` });
});

/** Locks need Linux. */
const DIRECTORIES = process.platform === "linux" ? ["--logs", "--lock"] : ["--logs"];

it.each(DIRECTORIES)("reports that %s is not a directory and starts nothing", async (option) => {
  const file = join(directory, "manifest.yaml");
  writeFileSync(file, "processes: { web: { command: node } }");
  const text = `${file} is not a directory: choose another with ${option}\n`;
  expect(await refusal(file, option, file)).toEqual({ code: 2, text });
});

it.each(ROLES)("leaves nothing if the port of its page is in use: %j", async (args) => {
  const file = join(directory, "good.yaml");
  writeFileSync(file, `processes: { web: { command: touch, args: ["${directory}/started"] } }`);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("TMPDIR", directory);
  expect(await refusal(file, "--port", `${port}`, ...args)).toEqual({
    code: 2,
    text: `port ${port} is taken: choose another with --port\n`,
  });
  server.close();
  const left = readdirSync(directory).filter((name) => /^(started|holdfast-lock-.*)$/.test(name));
  expect(left).toEqual([]);
});
