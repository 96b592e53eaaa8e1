// Runs vitest. It answers a bad option with a stack; this, with the message alone.
try {
  await import("../node_modules/vitest/vitest.mjs");
} catch (error) {
  const { name, message } = /** @type {Error} */ (error);
  if (name !== "CACError") throw error;
  console.error(`error: ${message}\n\nnpx vitest --help lists the options.`);
  process.exitCode = 2;
}
