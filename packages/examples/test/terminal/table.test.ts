import { expect, it } from "vitest";
import { type Column, headOf, lineOf } from "../../src/terminal/table.ts";

const columns: Column<{ name: string; calls: number }>[] = [
  { title: "NAME", width: 6, align: "left", cell: ({ name }) => name },
  { title: "CALLS", cell: ({ calls }) => `${calls}` },
  { title: "N", width: 3, cell: () => "1" },
];

it("aligns words to the left and numbers to the right, below their titles", () => {
  expect(headOf(columns)).toBe("NAME    CALLS    N");
  expect(lineOf(columns, { name: "full", calls: 61 })).toBe("full       61    1");
  expect(lineOf(columns, { name: "proportional", calls: 1_234_567 })).toBe(
    "proportional  1234567    1",
  );
});
