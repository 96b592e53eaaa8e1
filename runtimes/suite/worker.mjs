// The entry of workerd: timers run only inside a handler.
import { runSuite } from "./index.mjs";

export const suite = { test: () => runSuite((line) => console.log(line)) };
