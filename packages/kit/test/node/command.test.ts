import {
  type Command,
  type CommandLine,
  type Output,
  optional,
  problemOf,
  runCommands,
} from "@holdfast/kit/node";
import { describe, expect, it } from "vitest";
import { printedBy, type Run } from "../../../../test/printed.ts";

describe("optional", () => {
  const missing = () =>
    Promise.reject(Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" }));

  it("resolves with the package", async () => {
    expect(await optional("pg", Promise.resolve(7))).toBe(7);
  });

  it("says what to install if the package is missing", async () => {
    await expect(optional("pg", missing())).rejects.toThrow(
      "this command needs the package pg: npm install pg",
    );
    await expect(optional("yaml", missing(), "--save-dev ")).rejects.toThrow(
      "this command needs the package yaml: npm install --save-dev yaml",
    );
  });

  it("hands on every other error", async () => {
    const error = new SyntaxError("bad");
    await expect(optional("pg", Promise.reject(error))).rejects.toBe(error);
  });
});

describe("problemOf", () => {
  it.each<[unknown, string]>([
    [new Error("first\nsecond"), "first"],
    [
      new AggregateError([new Error("connect ECONNREFUSED ::1:5432"), new Error("b")]),
      "connect ECONNREFUSED ::1:5432",
    ],
    [Object.assign(new Error(""), { code: "ETIMEDOUT" }), "ETIMEDOUT"],
    [new TypeError("Unknown option '-x'. To specify a positional argument"), "Unknown option '-x'"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [null, "null"],
  ])("of %o is %s", (error, want) => {
    expect(problemOf(error)).toBe(want);
  });
});

describe("runCommands", () => {
  const usage = "it COMMAND\n";
  const add: Command = (args, { print }) => {
    print(`${args.join("+")}\n`);
    return args.length > 0 ? 0 : 1;
  };
  const fail: Command = () => Promise.reject(new Error("first\nsecond"));
  const commands = new Map<string | undefined, Command>([
    ["add", add],
    ["fail", fail],
  ]);
  const run = (line: CommandLine<Output>, ...args: string[]) =>
    printedBy((output) => runCommands(line, args, output));

  it.each<[string[], Run]>([
    [["add", "1", "2"], { code: 0, stdout: "1+2\n", stderr: "" }],
    [["add"], { code: 1, stdout: "\n", stderr: "" }],
    [["add", "--help"], { code: 0, stdout: usage, stderr: "" }],
    [["-h"], { code: 0, stdout: usage, stderr: "" }],
    [["fail"], { code: 2, stdout: "", stderr: "error: first\n" }],
    [
      ["sub"],
      {
        code: 2,
        stdout: "",
        stderr: "error: COMMAND must be one of add, fail, got sub; see --help\n",
      },
    ],
    [
      [],
      {
        code: 2,
        stdout: "",
        stderr: "error: COMMAND must be one of add, fail, got none; see --help\n",
      },
    ],
  ])("of %j", async (args, want) => {
    expect(await run({ usage, commands }, ...args)).toEqual(want);
  });

  it("runs an only command, which has no name", async () => {
    expect(await run({ usage, commands: add }, "1", "2")).toMatchObject({
      code: 0,
      stdout: "1+2\n",
    });
  });

  it("words an error as the command line does", async () => {
    const problem = (error: unknown): string => `it ${String(error).length}`;
    expect(await run({ usage, commands, problem }, "fail")).toMatchObject({
      stderr: "error: it 19\n",
    });
  });
});
