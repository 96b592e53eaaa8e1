import { describe, expect, it } from "vitest";
import { formatManifestErrorWithSource } from "../../src/run/manifest/manifest-error.ts";
import { parseManifest } from "../../src/run/manifest/parse-manifest.ts";

it("fills in the defaults", () => {
  const parsed = parseManifest("processes: { web: { command: node } }", "/app/my.yaml");
  expect(parsed).toEqual({
    ok: true,
    manifest: {
      processes: new Map([
        [
          "web",
          {
            name: "web",
            command: "node",
            args: [],
            env: {},
            cwd: "/app",
            restart: "Always",
            backoff: { duration: 1_000, factor: 2, jitter: 0, cap: 30_000, resetAfter: 60_000 },
            maxRestarts: Number.POSITIVE_INFINITY,
            success: [0],
            final: [],
            grace: 10_000,
            stopSignal: "SIGTERM",
            maxMemory: Number.POSITIVE_INFINITY,
            exitOnEnd: false,
            dependsOn: {},
            readiness: undefined,
            liveness: undefined,
            startup: undefined,
          },
        ],
      ]),
    },
  });
});

it("prefers the backoff of a process to that of the manifest, field by field", () => {
  const yaml = `
backoff: { duration: 1s, cap: 8s, resetAfter: 20s }
processes:
  web: { command: node, backoff: { cap: 16s, jitter: 0.1 } }
`;
  const parsed = parseManifest(yaml, "my.yaml");
  expect(parsed.ok && parsed.manifest.processes.get("web")?.backoff).toEqual({
    duration: 1_000,
    factor: 2,
    jitter: 0.1,
    cap: 16_000,
    resetAfter: 20_000,
  });
});

it("fills in the defaults of a readiness check, and resolves cwd from the manifest", () => {
  const yaml = "processes: { web: { command: node, cwd: ../b, readiness: { http: 80 } } }";
  const parsed = parseManifest(yaml, "/app/a/my.yaml");
  const web = parsed.ok ? parsed.manifest.processes.get("web") : undefined;
  expect(web?.cwd).toBe("/app/b");
  expect(web?.readiness).toEqual({
    target: { kind: "http", port: 80, path: "/" },
    period: 10_000,
    timeout: 1_000,
    failures: 3,
  });
});

it("follows anchors and merge keys", () => {
  const yaml = `
processes:
  a: &base { command: node, args: [x] }
  b: { <<: *base, args: [y] }
`;
  const parsed = parseManifest(yaml, "my.yaml");
  expect(parsed.ok && parsed.manifest.processes.get("b")?.command).toBe("node");
});

interface BrokenCase {
  readonly name: string;
  readonly yaml: string;
  /** `line:column: message`, one per error. */
  readonly want: readonly string[];
}

const KEYS =
  "command, args, shell, env, envFile, cwd, restart, backoff, maxRestarts, success, final, grace, stopSignal, maxMemory, exitOnEnd, disabled, dependsOn, readiness, liveness, startup";
const DURATION = 'a duration above 0, such as "500ms", "2s" or "1m30s"';
const NAME = "a name of at most 63 letters, digits, dots, dashes and underscores";
const PORT = "auto, or a whole number from 1 to 65535";

it.each<BrokenCase>([
  {
    name: "an empty file",
    yaml: "",
    want: ["1:1: the manifest is empty; expected a mapping of grace, backoff, processes"],
  },
  {
    name: "a list",
    yaml: "- a",
    want: ["1:1: the manifest is a list; expected a mapping of grace, backoff, processes"],
  },
  {
    name: "broken YAML",
    yaml: "processes:\n  a: b: c",
    want: ["2:6: not valid YAML: Nested mappings are not allowed in compact mappings"],
  },
  {
    name: "a tab",
    yaml: "processes:\n\ta: {}",
    want: ["2:1: not valid YAML: Tabs are not allowed as indentation"],
  },
  {
    name: "a name that stands twice",
    yaml: "processes:\n  a: { command: x }\n  a: { command: y }",
    want: ["3:3: not valid YAML: Map keys must be unique"],
  },
  {
    name: "an unknown anchor",
    yaml: "processes:\n  a: *b",
    want: ["2:6: not valid YAML: *b has no anchor &b before it"],
  },
  {
    name: "a variable named __proto__",
    yaml: "processes:\n  a: { command: x, env: { __proto__: y } }",
    want: ["2:27: processes.a.env.__proto__ is not a usable name; expected another name"],
  },
  {
    name: "a process named __proto__, beside another error",
    yaml: "grace: soon\nprocesses:\n  __proto__: { command: x }\n  a: { command: y }",
    want: [
      `1:8: grace is "soon"; expected ${DURATION}`,
      `3:3: processes.__proto__ is not a usable name; expected ${NAME}`,
    ],
  },
  {
    name: "no processes",
    yaml: "grace: 3s",
    want: ["1:1: processes is missing; expected a mapping of names to processes"],
  },
  {
    name: "a process without a command",
    yaml: "processes:\n  web:\n    args: [x]",
    want: ["2:3: processes.web.command is missing; expected the program to run, or shell: LINE"],
  },
  {
    name: "an empty process",
    yaml: "processes:\n  web:\n",
    want: [`2:3: processes.web is empty; expected a mapping of ${KEYS}`],
  },
  {
    name: "an unknown key",
    yaml: "processes:\n  web:\n    command: x\n    restrt: Never",
    want: [`4:5: processes.web.restrt is an unknown key; expected one of ${KEYS}`],
  },
  {
    name: "an unknown policy",
    yaml: "processes:\n  web:\n    command: x\n    restart: Sometimes",
    want: ['4:14: processes.web.restart is "Sometimes"; expected Always, OnFailure or Never'],
  },
  {
    name: "a mapping where text belongs",
    yaml: "processes:\n  web:\n    command: x\n    args: [-p, {}]",
    want: ["4:16: processes.web.args[1] is a mapping; expected text, a number or a boolean"],
  },
  {
    name: "a duration without a unit",
    yaml: "grace: 5\nprocesses: {}",
    want: [`1:8: grace is 5; expected ${DURATION}`],
  },
  {
    name: "a backoff that shrinks",
    yaml: "backoff: { factor: 0.5 }\nprocesses: {}",
    want: ["1:20: backoff.factor is 0.5; expected a number of at least 1"],
  },
  {
    name: "a cap below the first wait",
    yaml: "processes:\n  web: { command: x, backoff: { duration: 5s, cap: 1s } }",
    want: ["2:52: processes.web.backoff.cap is 1s; expected at least the first wait, 5s"],
  },
  {
    name: "a reset that a wait alone would bring about",
    yaml: "processes:\n  web:\n    command: x\n    backoff: { cap: 10s, jitter: 0.1, resetAfter: 10s }",
    want: [
      "4:51: processes.web.backoff.resetAfter is 10s; expected at least the longest wait, 11s",
    ],
  },
  {
    name: "a common backoff, once for all that have it",
    yaml: "backoff: { cap: 10s, resetAfter: 9s }\nprocesses:\n  a: { command: x }\n  b: { command: y }",
    want: ["1:34: backoff.resetAfter is 9s; expected at least the longest wait, 10s"],
  },
  {
    name: "a common word that is wrong for one process, where the word stands",
    yaml: "backoff: { cap: 10s, resetAfter: 30s }\nprocesses:\n  a: { command: x }\n  b: { command: y, backoff: { cap: 60s } }",
    want: [
      "1:34: backoff.resetAfter is 30s; expected at least the longest wait of processes.b, 1m00s",
    ],
  },
  {
    name: "a default that is wrong for a process, at its backoff",
    yaml: "processes:\n  web: { command: x, backoff: { cap: 2m } }",
    want: [
      "2:22: processes.web.backoff.resetAfter is 1m00s; expected at least the longest wait, 2m00s",
    ],
  },
  {
    name: "a port that does not exist",
    yaml: "processes:\n  web:\n    command: x\n    readiness: { http: 70000 }",
    want: [`4:24: processes.web.readiness.http is 70000; expected ${PORT}`],
  },
  {
    name: "a name that is not a file name",
    yaml: "processes:\n  a/b: { command: x }",
    want: [
      "2:3: processes.a/b is not a usable name; expected a name of at most 63 letters, digits, dots, dashes and underscores",
    ],
  },
  {
    name: "several things, in the order of the lines",
    yaml: "grce: 1s\nprocesses:\n  web: { comand: x }",
    want: [
      "1:1: grce is an unknown key; expected one of grace, backoff, processes",
      `3:10: processes.web.comand is an unknown key; expected one of ${KEYS}`,
    ],
  },
])("rejects $name", ({ yaml, want }) => {
  const parsed = parseManifest(yaml, "my.yaml");
  const errors = parsed.ok ? [] : parsed.errors;
  expect(errors.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual(want);
});

it("shows the line with a caret below the place", () => {
  const parsed = parseManifest("grace: soon\nprocesses: {}", "my.yaml");
  const [first] = parsed.ok ? [] : parsed.errors;
  expect(first && formatManifestErrorWithSource(first)).toBe(
    [
      `my.yaml:1:8: grace is "soon"; expected ${DURATION}`,
      "    1 | grace: soon",
      "      |        ^",
    ].join("\n"),
  );
});

describe("a manifest of a stranger", () => {
  const processes = (count: number, fields: (index: number) => string) =>
    `processes:\n${Array.from({ length: count }, (_, index) => `  p${index}: ${fields(index)}\n`).join("")}`;
  const messages = (yaml: string) => {
    const parsed = parseManifest(yaml, "my.yaml");
    return parsed.ok ? parsed.manifest.processes.size : parsed.errors.map(({ message }) => message);
  };
  const start = "x-a: &a { command: x }\n";
  /** Each anchor stands for two of the one before. */
  const laughs = Array.from(
    { length: 60 },
    (_, index) => `x-${index}: &l${index + 1} [*l${index}, *l${index}]\n`,
  );

  it("may have 1,000 aliases, each as often as it likes", () => {
    expect(messages(start + processes(1_000, () => "*a"))).toBe(1_000);
    expect(messages(start + processes(1_000, () => "{ <<: *a }"))).toBe(1_000);
    const over = ["not valid YAML: has more than 1000 aliases"];
    expect(messages(start + processes(1_001, () => "*a"))).toEqual(over);
    expect(messages(start + processes(2_000, () => "{ <<: *a }"))).toEqual(over);
  });

  it("may have 20,000 values, with those that its aliases stand for", () => {
    const over = ["not valid YAML: has more than 20000 values, with those of its aliases"];
    expect(messages(`x-a: &l0 x\n${laughs.join("")}processes: {}`)).toEqual(over);
    const list = (length: number) => `[${Array.from({ length }, () => "x").join(", ")}]`;
    const env = `x-a: &a { command: x, args: ${list(95)} }\n`;
    expect(messages(env + processes(195, () => "*a"))).toBe(195);
    expect(messages(env + processes(200, () => "*a"))).toEqual(over);
    expect(messages(`x-a: ${list(19_990)}\nprocesses: {}`)).toBe(0);
    expect(messages(`x-a: ${list(20_000)}\nprocesses: {}`)).toEqual(over);
  });

  it("has no alias in itself", () => {
    expect(messages("processes: &a\n  b: *a")).toEqual(["not valid YAML: *a is within its anchor"]);
  });

  it("may have a mistake in each of its keys, and a key twice", () => {
    const unknown = messages(
      `processes: { a: { ${Array.from({ length: 5_000 }, (_, index) => `k${index}: 1`).join(", ")} } }`,
    );
    expect(unknown).toHaveLength(5_000);
    const twice = messages(`processes:\n${"  a: { command: x }\n".repeat(4)}`);
    expect(twice).toEqual(Array(3).fill("not valid YAML: Map keys must be unique"));
  });

  it("is not read in steps as deep as it likes", () => {
    const [problem] = messages(`processes: ${"[".repeat(20_000)}`) as string[];
    expect(problem).toMatch(/^not valid YAML: /);
  });

  it("has no key that is a mapping, a list or an alias", () => {
    const refused = ["not valid YAML: Map keys must be text"];
    for (const key of ["[a]", "{ a: b }", "*a"])
      expect(messages(`x-a: &a b\nprocesses: {}\n? ${key}\n: 1`)).toEqual(refused);
    expect(messages(`x-a:\n  ${"? ".repeat(400)}`)).toEqual(Array(399).fill(refused[0]));
  });

  it("may have every way through its dependencies: each is looked at once", () => {
    // There are 2 to the 58th ways from the first to the last.
    const later = (index: number) =>
      Array.from({ length: 59 - index }, (_, more) => `p${index + 1 + more}: started`).join(", ");
    expect(
      messages(processes(60, (index) => `{ command: x, dependsOn: { ${later(index)} } }`)),
    ).toBe(60);
    const [cycle, ...others] = messages(
      processes(
        60,
        (index) => `{ command: x, dependsOn: { ${index < 59 ? later(index) : "p0: started"} } }`,
      ),
    ) as string[];
    expect(cycle).toMatch(/^processes\.p0\.dependsOn\.p1 is a cycle: p0 → p1 → .* → p0$/);
    expect(others.every((other) => / is a cycle: /.test(other))).toBe(true);
  });

  it.each(Object.getOwnPropertyNames(Object.prototype))(
    "has no key or process by the name of a method: %s",
    (name) => {
      const expected = (problem: string) => [expect.stringContaining(problem)];
      expect(messages(`${name}: 1\nprocesses: {}`)).toEqual(expected("is an unknown key"));
      expect(messages(`processes: { a: { command: x, ${name}: 1 } }`)).toEqual(
        expected(`processes.a.${name} is an unknown key`),
      );
      const depends = `processes: { a: { command: x, dependsOn: { ${name}: started } } }`;
      expect(messages(depends)).toEqual(
        expected(name === "__proto__" ? "is not a usable name" : "is no process of this manifest"),
      );
      if (/^[a-z]/i.test(name)) expect(messages(`processes: { ${name}: { command: x } }`)).toBe(1);
      expect(messages(`processes: { a: { command: x, restart: ${name} } }`)).toEqual(
        expected(`processes.a.restart is "${name}"`),
      );
      expect(messages(`processes: { a: { command: x, stopSignal: ${name} } }`)).toEqual(
        expected(`processes.a.stopSignal is "${name}"`),
      );
    },
  );
});

it("shows the part of a long line that is wrong", () => {
  const parsed = parseManifest(
    `processes: { a: { command: ${"x".repeat(1_000)}, b: 1 } }`,
    "my.yaml",
  );
  const [first] = parsed.ok ? [] : parsed.errors;
  const [, source = "", caret = ""] = first ? formatManifestErrorWithSource(first).split("\n") : [];
  expect(source.length).toBeLessThan(220);
  expect(source.slice(caret.indexOf("^"))).toMatch(/^b: 1 /);
});
