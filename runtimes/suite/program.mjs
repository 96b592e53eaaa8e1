// The entry of Node, Deno, Bun and a page.
import { realClock } from "@holdfast/clock";
import { runSuite } from "./index.mjs";

await runSuite((line) => console.log(line));
// A timer without `ref` keeps no process alive, where the platform can tell.
realClock.afterFunc(60 * 60 * 1_000, () => {}, { ref: false });
