import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));

/** Files below `packages/`, as POSIX paths. */
const filesOf = (folder: string, end: string): readonly string[] =>
  readdirSync(PACKAGES)
    .flatMap((name) => {
      try {
        const files = readdirSync(`${PACKAGES}/${name}/${folder}`, { recursive: true });
        return files.map((file) => `${name}/${folder}/${String(file)}`);
      } catch {
        return []; // a package without an entry point
      }
    })
    .filter((file) => file.endsWith(end));

const textOf = (file: string): string => readFileSync(`${PACKAGES}/${file}`, "utf8");

/** What the public API asks of functions of the user that must answer at once, and where the answer is checked. */
const CHECKED: Readonly<Record<string, string>> = {
  "controller/index isWanted": "isWanted(event)",
  "fake-apiserver/index when": "rule.when(request)",
  "kubernetes/index HealthCheck": "the check ",
  "kubernetes/index when": "options.when(change)",
  "outbox/webhook allow": "options.allow(url)",
  "outbox/webhook isTerminal": "options.isTerminal(status, message)",
  "wait/go retriable": "retriable(error)",
  "wait/loop isDone": "isDone(value)",
  "wait/rxjs shouldRetry": "options.shouldRetry(context)",
  "wait/rxjs until": "until(value)",
};

it("a Promise from a function that must answer true or false is a mistake, wherever one is asked", () => {
  const found = filesOf("api", ".api.txt").flatMap((file) => {
    const entry = file.replace("/api/", "/").replace(".api.txt", "");
    const types = /(\w+)(?:\?:| =|:) \(*\([^()]*\) => (?:boolean|value is \w+)(?! \|)/g;
    return [...textOf(file).matchAll(types)].map(([, option]) => `${entry} ${option}`);
  });
  expect([...new Set(found)].sort()).toEqual(Object.keys(CHECKED));
  const sources = filesOf("src", ".ts").map(textOf).join("\n");
  const unchecked = Object.values(CHECKED).filter(
    (words) => !['"', "`"].some((quote) => sources.includes(`requireAnswer(${quote}${words}`)),
  );
  expect(unchecked).toEqual([]);
});
