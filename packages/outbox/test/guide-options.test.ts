import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { RECOVERY_OPTIONS } from "../src/maintenance/recovery.ts";
import { RETENTION_OPTIONS } from "../src/maintenance/retention.ts";
import { RELAY_OPTIONS } from "../src/relay/relay-options.ts";
import { OUTBOX_SERVICE_OPTIONS } from "../src/service/outbox-service.ts";

const textOf = (path: string): string =>
  readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const [, section = ""] = textOf("../../../docs/outbox.md").split("\n### Options\n");
const rows = section
  .split("\n### ")[0]
  ?.split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim()),
  );

const PARTS = [
  ["an outbox", 1, OUTBOX_SERVICE_OPTIONS, ["service/outbox-service"]],
  ["Relay", 2, RELAY_OPTIONS, ["relay/relay-options"]],
  ["Recovery", 3, RECOVERY_OPTIONS, ["maintenance/recovery", "maintenance/locked-task"]],
  ["Retention", 4, RETENTION_OPTIONS, ["maintenance/retention", "maintenance/locked-task"]],
] as const;

const namesOf = (cell = ""): string[] =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

it.each(PARTS)("the guide lists each option of %s, and no other", (_, column, kinds) => {
  const listed = rows?.filter((row) => row[column] === "•").flatMap(([cell]) => namesOf(cell));
  expect(listed?.sort()).toEqual(Object.keys(kinds).sort());
});

it.each(PARTS)("the guide has the defaults of %s", (_, column, _kinds, files) => {
  const texts = [...files, "task"].map((file) => textOf(`../src/${file}.ts`));
  const wrong = rows
    ?.filter((row) => row[column] === "•" && /^`[^`]+`$/.test(row[5] ?? ""))
    .flatMap(([cell, , , , , value]) => namesOf(cell).map((name) => ({ name, value })))
    .filter(({ name, value = "" }) => {
      const documented = texts.flatMap(
        (text) =>
          new RegExp(
            `@defaultValue ([^\\n]+)(?:\\n(?!  readonly)[^\\n]*)*\\n  readonly ${name}\\?`,
          ).exec(text)?.[1] ?? [],
      );
      return documented.length > 0 && !documented[0]?.startsWith(value);
    });
  expect(wrong).toEqual([]);
});
