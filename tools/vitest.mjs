// Runs vitest. It answers a bad option with a stack; this, with the message alone. It colours the output of every
// build machine; this, what a terminal shows.
if (!process.stdout.isTTY && !process.env["FORCE_COLOR"]) process.env["NO_COLOR"] = "1";
const program = new URL("../node_modules/vitest/vitest.mjs", import.meta.url);
try {
  await import(program.href);
} catch (error) {
  const { name, message } = /** @type {Error} */ (error);
  if (name !== "CACError") throw error;
  console.error(`error: ${message}\n\nnpx vitest --help lists the options.`);
  process.exitCode = 2;
}
