import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { createProbe } from "../../src/run/machine/probe.ts";
import { importManifest } from "../../src/run/manifest/import-manifest.ts";
import { parseManifest } from "../../src/run/manifest/parse-manifest.ts";
import { holdfast } from "../holdfast.ts";
import { listen } from "../listen.ts";
import { manifestFile, Supervised } from "./supervised.ts";

const ESCAPES = "\u001b[2J\u009b7C\u202e\u0007";
/** All that a terminal would not show as it is. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** A file in a folder of its own. */
function fileOf(text: string, name = "file"): string {
  const file = join(tempFolder(onTestFinished), name);
  writeFileSync(file, text);
  return file;
}

it.each([
  ["wait", `--no${ESCAPES}`],
  ["wait", "--timeout", ESCAPES, "localhost:1"],
  ["wait", `ftp${ESCAPES}://a`],
  ["retry", `--no${ESCAPES}`, "--", "true"],
  ["retry", "--retries", ESCAPES, "--", "true"],
  ["run", `--no${ESCAPES}`],
  ["run", "file", "--for", ESCAPES],
  ["run", "check", `--no${ESCAPES}`],
  ["run", "import", "a", ESCAPES],
  ["run", "status", `--no${ESCAPES}`],
  ["run", "logs", "a", "--lines", ESCAPES],
  ["run", ESCAPES],
  [ESCAPES],
])("an argument is repeated without its escape codes: %j", async (...args) => {
  const { code, stdout, lines } = await holdfast(args);
  expect([stdout, ...lines].filter((line) => UNSAFE.test(line))).toEqual([]);
  expect([code, lines.length > 0]).toEqual([2, true]);
});

describe("text of a file is printed without escape codes", () => {
  const texts = [
    `grace: "a${ESCAPES}"\nprocesses: {}`,
    `"a${ESCAPES}b": 1\nprocesses: {}`,
    `processes: # ${ESCAPES}\n  a: b: c`,
    `processes: { "a${ESCAPES}": { command: x } }`,
    `processes: { a: { command: x, "a\\e[2Jb": 1 } }`,
    `processes: { a: { command: x, dependsOn: { "a\\e[2J\\nb": started } } }`,
    `processes: { a: { command: x, envFile: "a\\e[2J\\u202e" } }`,
    `processes: { a: *b${ESCAPES} }`,
    `%A${ESCAPES}\n---\nprocesses: {}`,
    `processes: !${ESCAPES} {}`,
    `processes:\n  - ${ESCAPES}`,
    ESCAPES,
  ];

  it.each(texts)("%#", async (text) => {
    const file = fileOf(text, `name${ESCAPES}`);
    for (const args of [
      ["check", file],
      [file, "--no-page"],
      ["import", file],
    ]) {
      const { code, stdout, lines } = await holdfast(["run", ...args]);
      expect([args, [stdout, ...lines].filter((line) => UNSAFE.test(line))]).toEqual([args, []]);
      if (args[0] !== "import") expect([code, lines.length > 0]).toEqual([2, true]);
    }
  });

  it("by import, whose manifest means the same", () => {
    const shell = `echo "${ESCAPES}"\nline\ttab`;
    const { yaml, left } = importManifest(
      JSON.stringify({ processes: { [`a${ESCAPES}`]: { command: shell } } }, null, 1)
        .replace(/^\{/, "")
        .replace(/^ "processes"/m, "processes")
        .replace(/\}$/, ""),
    );
    expect(left).toEqual([]);
    expect(yaml).not.toMatch(UNSAFE);
    expect(parse(yaml)).toEqual({
      processes: { [`a${ESCAPES}`]: { restart: "Never", shell } },
    });
  });

  it("of a manifest that is edited", async () => {
    const run = new Supervised("processes: { a: { shell: 'exec sleep 1000' } }");
    await run.pidOf("a");
    run.edit(`processes: { a: { "b\\e[2J\u202e": 1 } }`);
    const [line] = await run.printed(/^.*processes\.a\.b.* is an unknown key.*$/m);
    expect(line).not.toMatch(UNSAFE);
    run.kill("SIGTERM");
    await run.ended();
  });

  it.skipIf(process.platform !== "linux")("on the table of a terminal", async () => {
    const program = join(tempFolder(onTestFinished), "a\u009b7C");
    const file = manifestFile(
      `processes: { a: { command: "${program.replace("\u009b", "\\x9b")}", restart: Never } }`,
    );
    const env = { XDG_RUNTIME_DIR: join(file, ".."), CI: "", TERM: "xterm", NO_COLOR: "1" };
    const { stdout } = await holdfast(["run", file, "--no-page"], { env, terminal: true });
    expect(stdout).toContain("a\ufffd7C: not found");
    expect(stdout).not.toContain("\u009b");
  });
});

describe("names of a file are not those of the methods of all objects", () => {
  const NAMES = Object.getOwnPropertyNames(Object.prototype);

  it("in any place of a process-compose.yaml", () => {
    const all = (value: string) => NAMES.map((name) => `${name}: ${value}`).join(", ");
    const { yaml, left } = importManifest(`
${NAMES.map((name) => `${name}: 1`).join("\n")}
processes:
  a: { command: x, ${all("1")} }
  b: { availability: { ${all("1")} }, shutdown: { ${all("1")} } }
  c: { readiness_probe: { ${all("1")} }, liveness_probe: { http_get: { port: 1, ${all("1")} } } }
  d: { depends_on: { ${all("{ condition: process_healthy }")} } }
${NAMES.map((name, index) => `  e${index}: { availability: { restart: ${name} }, shutdown: { signal: ${name} }, depends_on: { a: { condition: ${name} } } }`).join("\n")}
  f: { environment: [${NAMES.map((name) => `"${name}=1"`).join(", ")}] }
`);
    const places = [
      "",
      "processes.a.",
      "processes.b.availability.",
      "processes.b.shutdown.",
      "processes.c.readiness_probe.",
      "processes.c.liveness_probe.http_get.",
    ];
    expect(left).toEqual([
      ...places.flatMap((place) => NAMES.map((name) => `${place}${name} has no counterpart`)),
      ...NAMES.map((_, index) => `processes.e${index}.depends_on.a.condition has no counterpart`),
    ]);
    const { processes } = parse(yaml);
    expect(processes.a).toEqual({ restart: "Never", shell: "x" });
    expect(processes.b).toEqual({ restart: "Never" });
    expect(processes.e0).toEqual({
      restart: "Never",
      stopSignal: "SIGTERM",
      dependsOn: { a: "started" },
    });
    for (const [made, value] of [
      [processes.d.dependsOn, "ready"],
      [processes.f.env, "1"],
    ])
      expect(Object.entries(made)).toEqual(NAMES.map((name) => [name, value]));
  });

  it("in a Procfile", () => {
    const { yaml, left } = importManifest(NAMES.map((name) => `${name}: x\n`).join(""));
    expect([left, Object.keys(parse(yaml).processes)]).toEqual([[], NAMES]);
  });

  it("in the place of a mapping", () => {
    for (const value of ["", "5", "x", "[1, null]", "null"])
      for (const text of [
        `processes: ${value}`,
        `processes:\n  a: ${value}`,
        ...["depends_on", "availability", "shutdown", "readiness_probe", "liveness_probe"].map(
          (key) => `processes:\n  a: { ${key}: ${value} }`,
        ),
        `processes:\n  a: { readiness_probe: { http_get: ${value}, exec: ${value} } }`,
        `processes:\n  a: { depends_on: { b: ${value} } }`,
      ])
        expect(importManifest(text).yaml).toMatch(/^processes:/);
    expect(importManifest("processes: [{ command: x }]").yaml).toBe("processes: {}\n");
  });
});

describe("a file that is read", () => {
  const times = (count: number, text: string) => text.repeat(count);

  it.each([
    ["lists", (n: number) => `processes: ${times(n, "[")}${times(n, "]")}`],
    ["open lists", (n: number) => `processes: ${times(n, "[")}`],
    ["mappings", (n: number) => `processes: ${times(n, "{a: ")}x${times(n, "}")}`],
    ["compact lists", (n: number) => `processes:\n  ${times(n, "- ")}x`],
    ["keys", (n: number) => `processes: {${times(n, "? [")}${times(n, "]")}}`],
    [
      "lines",
      (n: number) =>
        `processes:\n${Array.from({ length: Math.min(n, 1_200) }, (_, i) => `${times(i + 1, " ")}a:`).join("\n")}`,
    ],
  ])("has at most 500 levels: %s", (_, textOf) => {
    const refusal = "has more than 500 levels";
    for (const levels of [600, 1_000, 2_000, 5_000, 10_000, 100_000]) {
      const text = textOf(levels).slice(0, 999_999);
      const read = parseManifest(text, "file");
      expect(read).toMatchObject({
        ok: false,
        errors: [{ message: `not valid YAML: ${refusal}`, column: expect.any(Number) }],
      });
      expect(() => importManifest(text)).toThrow(refusal);
    }
    expect(parseManifest(textOf(480), "file")).not.toMatchObject({
      errors: [{ message: expect.stringContaining("levels") }],
    });
  });

  it("has aliases of at most 500 levels", () => {
    const chain = (links: number) =>
      Array.from({ length: links }, (_, i) => {
        const inner = i === 0 ? "x" : `*a${i - 1}`;
        return `- &a${i} ${times(98, "[")}${inner}${times(98, "]")}`;
      }).join("\n");
    expect(parseManifest(chain(15), "file")).toMatchObject({
      errors: [{ message: "not valid YAML: has more than 500 levels, with those of its aliases" }],
    });
    expect(parseManifest(chain(3), "file")).toMatchObject({
      errors: [{ message: expect.stringMatching(/^the manifest is a list/) }],
    });
  });

  it("is refused with at most 100 errors, none of which is long", async () => {
    for (const text of [
      `a: [${times(5_000, "!x !y 1, ")}]`,
      `processes: {${Array.from({ length: 900 }, (_, i) => `p${i}: { u: 1 }`).join(", ")}}`,
      `processes: "${times(900_000, "x")}"`,
    ]) {
      const { code, stdout, lines } = await holdfast(["run", "check", fileOf(text)]);
      expect(code).toBe(2);
      expect(lines.length + stdout.split("\n").length).toBeLessThan(310);
      expect(stdout.length + lines.join("").length).toBeLessThan(100_000);
    }
  });

  it("has no tag that makes many values of one", () => {
    const bytes = Buffer.alloc(30_000).toString("base64");
    for (const place of ["processes: ", "processes:\n  a: ", "processes:\n  a:\n    command: "])
      for (const value of [`!!binary ${bytes}`, "!!set { a, b }", "!!omap [ a: 1 ]"]) {
        expect(() => importManifest(`${place}${value}`)).toThrow("Unresolved tag");
        expect(parseManifest(`${place}${value}`, "file").ok).toBe(false);
      }
  });

  it("is at most 1 MB", async () => {
    const file = fileOf(`processes: {} # ${"x".repeat(1_000_000)}`);
    const long = "longer than 1 MB";
    for (const args of [["check", file], [file], ["import", file], ["check", "/dev/zero"]])
      expect((await holdfast(["run", ...args])).lines.join()).toContain(long);
    const variables = manifestFile(`processes: { a: { command: x, envFile: ${file} } }`);
    expect((await holdfast(["run", "check", variables])).lines.join()).toContain(long);
  });

  it("blocks nothing if a pipe is where a file of variables belongs", async () => {
    const file = manifestFile("processes: { a: { command: x, envFile: pipe } }");
    execFileSync("mkfifo", [join(file, "../pipe")]);
    const { code, lines } = await holdfast(["run", "check", file]);
    expect([code, lines[0]]).toEqual([
      2,
      expect.stringContaining("is pipe; it cannot be read: it is not a regular file"),
    ]);
  });

  it("blocks nothing if a pipe takes the place of a manifest that runs", async () => {
    const run = new Supervised("processes: { a: { shell: 'exec sleep 1000' } }");
    await run.pidOf("a");
    const pipe = join(run.file, "../pipe");
    execFileSync("mkfifo", [pipe]);
    execFileSync("mv", [pipe, run.file]);
    await run.printed(/cannot be read: it is not a regular file/);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(143);
  });
});

describe("other users of the machine", () => {
  it("see no output of a process on any page", async () => {
    const secret = "the-s3cret-words";
    const run = new Supervised(`
processes:
  crash: { shell: 'echo ${secret}; exit 3', backoff: { duration: 1h, cap: 1h, resetAfter: 2h } }
  fails: { shell: 'echo ${secret} >&2; exit 3', restart: Never }
  done: { shell: 'echo ${secret}', restart: Never }
  up: { shell: 'echo ${secret}; exec sleep 1000', readiness: { exec: 'echo ${secret}; false', period: 50ms, timeout: 30s } }
`);
    const url = await run.url();
    await run.printed(/crash: CrashLoopBackOff.*the-s3cret-words/);
    await run.printed(/fails: Failed.*the-s3cret-words/);
    await run.printed(/done: Completed/);
    await run.printed(/up: not ready/);
    const ask = async (path: string, method = "GET") => {
      const response = await fetch(`${url}${path}`, { method });
      if (response.body === null || !/^(events|view)$/.test(path))
        return [response.status, await response.text()];
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("crash")) text += (await reader.read()).value ?? "";
      await reader.cancel();
      return [response.status, text];
    };
    const open = [
      "",
      "state",
      "view",
      "events",
      "metrics",
      "healthz",
      "readyz",
      "healthz?verbose",
      "readyz?verbose",
      "page.js",
      "page.css",
    ];
    for (const path of open) {
      const [status, text] = await ask(path);
      expect([path, [200, 503].includes(status as number), text]).toEqual([
        path,
        true,
        expect.not.stringContaining(secret),
      ]);
    }
    expect(await ask("state")).toEqual([
      200,
      expect.stringContaining('"lastExit": "code 3 after '),
    ]);
    const closed = ["status", "logs?name=up", "logs?name=crash", "status?x", "./logs?name=up"];
    for (const path of closed) expect((await ask(path))[0]).toBe(403);
    for (const act of ["restart", "stop"])
      expect((await ask(`${act}?name=up`, "POST"))[0]).toBe(403);
    const { stdout } = await holdfast(["run", "status"], { env: run.env });
    expect(stdout).toMatch(
      /^crash: CrashLoopBackOff, 0 restarts, code 3 after .*"the-s3cret-words"$/m,
    );
    run.kill("SIGTERM");
    await run.ended();
  });

  it.each(["http", "tcp"] as const)(
    "do not answer a probe by %s from the other address of localhost",
    async (kind) => {
      let asked = 0;
      const stranger = createServer((_, response) => void response.end());
      stranger.on("connection", () => asked++);
      const port = await listen(stranger, "::1");
      const probe = createProbe(realClock, () => undefined);
      const check = (host?: string) => {
        const target =
          kind === "http"
            ? ({ kind, path: "/", port, host } as const)
            : ({ kind, port, host } as const);
        return probe({ target, env: {}, cwd: "/" })(new AbortController().signal);
      };
      await expect(check()).rejects.toThrow("connection refused");
      await expect(check("127.0.0.1")).rejects.toThrow("connection refused");
      expect(asked).toBe(0);
      await check("::1");
      await check("localhost");
      expect(asked).toBeGreaterThanOrEqual(2);
    },
  );
});
