import { expect, it } from "vitest";
import { anchorsOf, codeWordsOf, linksOf } from "./markdown.ts";

const text = `# One \`a-b\` Heading, \`x(y, 0)\`

See [this](a.md#b) and ![that](c.svg), not \`[code](d.md)\`.

\`\`\`\`md
# Not a heading
\`\`\`ts
[no](link.md)
\`\`\`
\`\`\`\`

## Again
## Again

| [row](e.md) | \`f.ts\` |
`;

it("finds links and pictures with their lines, and leaves code alone", () => {
  expect(linksOf(text)).toEqual([
    { line: 3, target: "a.md#b" },
    { line: 3, target: "c.svg" },
    { line: 15, target: "e.md" },
  ]);
});

it("finds words of code in prose", () => {
  expect(codeWordsOf(text).map(({ target }) => target)).toEqual([
    "a-b",
    "x(y, 0)",
    "[code](d.md)",
    "f.ts",
  ]);
});

it("names headings as GitHub does", () => {
  expect([...anchorsOf(text)]).toEqual(["one-a-b-heading-xy-0", "again", "again-1"]);
});
