// Prints to a console that nothing has opened yet, under the watch of what passes no seam. Prints what the watch has found.
import { watchForeign } from "@holdfast/controller/recording";

/** @type {import("@holdfast/controller/recording").Foreign[]} */
const found = [];
const watch = watchForeign({ isInside: true }, found);
console.log("said");
console.error("said");
watch[Symbol.dispose]();
console.log(found);
