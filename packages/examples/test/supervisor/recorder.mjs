// A process that says in a file when it starts, and whether another one of its name still runs.
// recorder.mjs FILE NAME PORT LIFE IGNORES_SIGTERM
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";

const [file, name, port, life, ignores] = process.argv.slice(2);
const record = (what) => appendFileSync(file, `${what} ${name} ${process.pid} ${process.ppid}\n`);

if (ignores === "yes") process.on("SIGTERM", () => {});
record("start");
createServer()
  .on("error", () => record("overlap"))
  .listen(Number(port), "127.0.0.1");
if (life !== "forever") setTimeout(() => process.exit(1), Number(life));
else setInterval(() => {}, 1_000);
