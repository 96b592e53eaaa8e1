// A process that says in a file when it starts, and whether another one of its name still runs.
// recorder.mjs FILE NAME LIFE IGNORES_SIGTERM
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";

const [file, name, life, ignores] = process.argv.slice(2);
const record = (what) => appendFileSync(file, `${what} ${name} ${process.pid} ${process.ppid}\n`);

if (ignores === "yes") process.on("SIGTERM", () => {});
record("start");
// A name that Linux gives to one process at a time, and that no other test can take, as it can a port.
createServer()
  .on("error", () => record("overlap"))
  .listen(`\0${file} ${name}`);
if (life !== "forever") setTimeout(() => process.exit(1), Number(life));
else setInterval(() => {}, 1_000);
