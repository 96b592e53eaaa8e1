// `npm test` runs the tiers that a change needs, `npm run test:all` all of them: CONTRIBUTING.md describes the tiers.
// Other arguments go to vitest. A name of a file, or `--project`, selects from every tier.
const QUICK = ["unit", "docs"];

const args = process.argv.slice(2);
const isAll = args[0] === "--all";
if (isAll) args.shift();
const isSelected = args.some((one) => !one.startsWith("-") || one.startsWith("--project"));
if (isAll) process.env["TEST_ALL"] = "1";
if (!isAll && !isSelected) {
  args.push(...QUICK.map((tier) => `--project=${tier}`));
  process.on("exit", () =>
    console.log(
      "Left to `npm run test:all`: the tiers explore, programs, sim and tools, and most recordings.",
    ),
  );
}
process.argv.splice(2, Number.POSITIVE_INFINITY, "run", ...args);
await import("./vitest.mjs");
