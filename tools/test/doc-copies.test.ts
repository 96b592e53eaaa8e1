import { expect, it } from "vitest";
import { copyAnew, withoutCopies } from "../doc-copies.mjs";

const files = (path: string) => {
  expect(path).toBe("src/a.ts");
  return 'import { b } from "../../src/lib/b.ts";\nb();\n';
};
const guide = (block: string) =>
  `Text.\n\n<!-- copy of src/a.ts -->${block}\n\nMore.\n\n\`\`\`ts\nc();\n\`\`\`\n`;
const copied = guide('\n\n```ts\nimport { b } from "./b.js";\nb();\n```');

it.each([
  ["no copy yet", guide("")],
  ["an old copy", guide("\n\n```ts\nold();\n```")],
  ["the copy itself", copied],
])("copies a file again over %s", (_, text) => {
  expect(copyAnew(text, files)).toBe(copied);
});

it("omits copies and keeps line numbers", () => {
  const left = withoutCopies(copied);
  expect(left).not.toContain("b();");
  expect(left).toContain("c();");
  expect(left.split("\n")).toHaveLength(copied.split("\n").length);
});
