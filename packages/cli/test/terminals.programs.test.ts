import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Holdfast, limited } from "./holdfast.ts";

// Terminals that stop: by Ctrl-S, or because their window hangs. script(1) is the window.

const CTRL_S = "\u0013";
const CTRL_Q = "\u0011";

/** A holdfast on a terminal. Its commands write a line to `beats` at each start. */
class OnTerminal {
  readonly window: Holdfast;
  readonly #folder: string;

  /** @param line - a line for /bin/sh that becomes holdfast as `"$@"`, with redirections */
  constructor(args: readonly string[], line = '"$@"') {
    this.#folder = tempFolder(onTestFinished);
    const [pid, code, beats] = ["pid", "code", "beats"].map((name) => join(this.#folder, name));
    const manifest = join(this.#folder, "manifest.yaml");
    const words = args.map((word) =>
      word.replaceAll("BEATS", beats as string).replaceAll("MANIFEST", manifest),
    );
    writeFileSync(manifest, words.filter((word) => word.startsWith("processes:")).join());
    writeFileSync(beats as string, "");
    const shell = join(this.#folder, "shell");
    writeFileSync(shell, `echo $$ > ${pid}; exec ${line}`);
    this.window = new Holdfast(
      words.filter((word) => !word.startsWith("processes:")),
      {
        terminal: true,
        env: { XDG_RUNTIME_DIR: this.#folder, CI: "", TERM: "xterm" },
        within: ["sh", "-c", `sh "$0" "$@"; echo $? > ${code}`, shell],
      },
    );
  }

  /** Waits until a file of this name has something in it, and returns it. */
  async has(name: string): Promise<string> {
    const file = join(this.#folder, name);
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
    return readFileSync(file, "utf8").trim();
  }

  /** Waits until the commands have started so many times more. */
  async beats(count: number): Promise<void> {
    const now = (): number => readFileSync(join(this.#folder, "beats"), "utf8").length;
    const before = now();
    await expect.poll(now).toBeGreaterThanOrEqual(before + count);
  }

  async pid(): Promise<number> {
    return Number(await this.has("pid"));
  }

  /** Makes the file that a command waits for. */
  release(): void {
    writeFileSync(join(this.#folder, "beats.go"), "");
  }

  async printed(pattern: RegExp): Promise<RegExpMatchArray> {
    return await this.window.printed(pattern);
  }

  type(keys: string): void {
    this.window.child.stdin?.write(keys);
  }
}

const CRASHING =
  "processes: { web: { shell: 'echo loud; echo >> BEATS; exit 1', backoff: { duration: 10ms, factor: 1, cap: 10ms } } }";
const OFTEN = ["--attempts", "inf", "--delays", "10ms"];
const CHECK = "exec:echo >> BEATS; exit 1";
const CHECKED = ["-v", "--interval", "10ms", "--timeout", "0", CHECK];

const DOORS: [name: string, args: string[], line?: string][] = [
  ["run, with its table", ["run", "MANIFEST", CRASHING]],
  ["run -v", ["run", "-v", "MANIFEST", CRASHING]],
  ["run --raw", ["run", "--raw", "MANIFEST", CRASHING]],
  ["run, stdout alone", ["run", "MANIFEST", CRASHING], '"$@" 2>/dev/null'],
  ["run, stderr alone", ["run", "MANIFEST", CRASHING], '"$@" >/dev/null'],
  ["run, by a pipe for stdin", ["run", "-v", "MANIFEST", CRASHING], '"$@" </dev/null'],
  ["wait", ["wait", ...CHECKED]],
  ["wait, stderr alone", ["wait", ...CHECKED], '"$@" >/dev/null </dev/null'],
  ["wait --server", ["wait", "--server", "exec yes", ...CHECKED, "--", "true"]],
  ["retry", ["retry", ...OFTEN, "--shell", "echo >> BEATS; exit 1"]],
  [
    "retry, with its stderr",
    ["retry", ...OFTEN, "--on-output", "/x/", "--shell", "echo >> BEATS; echo x >&2; exit 1"],
  ],
  [
    "retry, with a command that has it, too",
    ["retry", ...OFTEN, "--timeout", "50ms", "--shell", "echo >> BEATS; exec yes"],
  ],
  [
    "retry, with a command that has it as stderr",
    ["retry", ...OFTEN, "--timeout", "50ms", "--shell", "echo >> BEATS; exec yes >&2"],
    '"$@" >/dev/null',
  ],
];

const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

describe.skipIf(!hasTerminal)("a terminal that has stopped", () => {
  test.each(DOORS)("keeps nothing waiting, and ends at SIGTERM: %s", async (name, args, line) => {
    const run = new OnTerminal(args, line);
    await run.beats(3);
    run.type(CTRL_S);
    await run.beats(3);
    const shown = run.window.stdout;
    await run.beats(5);
    expect(run.window.stdout).toBe(shown); // It has stopped.
    process.kill(await run.pid(), "SIGTERM");
    // An attempt that is about to end when the signal comes ends the command with its own code.
    const codes = name.startsWith("retry") ? ["143", "1", "124"] : ["143"];
    expect(codes).toContain(await run.has("code"));
  });

  test("keeps nothing waiting when its window hangs", async () => {
    const run = new OnTerminal(["run", "--raw", "MANIFEST", LOUD_AND_CRASHING]);
    await run.beats(1);
    run.window.kill("SIGSTOP");
    await run.beats(20);
    process.kill(await run.pid(), "SIGTERM");
    expect(await run.has("code")).toBe("143");
  });

  test.each([
    ["retry, at its deadline", ["retry", ...OFTEN, "--shell", "exit 1", "--deadline"]],
    ["wait, at its time limit", ["wait", "-v", "--interval", "10ms", "exec:exit 1", "--timeout"]],
  ])("is not waited for: %s", async (name, args) => {
    const { run } = await limited(/exit 1/, (limit) => new OnTerminal([...args, limit]));
    run.type(CTRL_S);
    // The deadline may also come between two attempts.
    expect(name.startsWith("retry") ? ["124", "1"] : ["124"]).toContain(await run.has("code"));
  });

  test("gets all of it in whole lines and in order, when it goes on", async () => {
    const last = 50_000;
    const manifest = `processes: { web: { shell: 'seq ${last}', restart: Never }, tick: { shell: 'echo >> BEATS; sleep 0.05' } }`;
    const run = new OnTerminal(["run", "-v", "--no-page", "MANIFEST", manifest]);
    await run.printed(/\| 500\r\n/);
    run.type(CTRL_S);
    await run.beats(2);
    const shown = run.window.stdout;
    await run.beats(2);
    expect(run.window.stdout).toBe(shown);
    run.type(CTRL_Q);
    await run.printed(new RegExp(`\\| ${last}\\r\\n`));
    await run.printed(/holdfast: tick: .*\r\n/);
    const numbers = run.window.stdout
      .split("\r\n")
      .flatMap((text) => /^web +\| (\d+)$/.exec(text)?.[1] ?? []);
    expect(numbers).toEqual(Array.from({ length: last }, (_, index) => String(index + 1)));
    process.kill(await run.pid(), "SIGTERM");
    expect(await run.has("code")).toBe("143");
  });

  test("gets all of the last attempt, when it goes on", async () => {
    const last = 200_000;
    const line = `test $HOLDFAST_ATTEMPT = 2 || { echo >> BEATS; exit 1; }; until test -e BEATS.go; do sleep 0.02; done; seq ${last}`;
    const run = new OnTerminal(["retry", "--buffer", "--delays", "10ms", "--shell", line]);
    await run.beats(1);
    run.type(CTRL_S);
    run.release();
    run.type(CTRL_Q);
    expect(await run.has("code")).toBe("0");
    const numbers = run.window.stdout.split("\r\n").filter((text) => /^\d+$/.test(text));
    expect(numbers).toHaveLength(last);
  });
});

const LOUD_AND_CRASHING = `${CRASHING.slice(0, -1)}, loud: { command: [yes] } }`;
