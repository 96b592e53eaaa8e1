import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { childrenOf, survivors } from "../../../../test/processes.ts";

const MAIN = fileURLToPath(new URL("../../../../services/apiserver/main.mjs", import.meta.url));

it("npm run apiserver -- --serve ends its servers when npm is ended", async () => {
  // As npm starts it. A signal ends the shell alone.
  const line = `true && "${process.execPath}" "${MAIN}" --serve; exit $?`;
  const shell = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const text of shell.stdout.setEncoding("utf8")) {
    output += text;
    if (output.includes("api-resources")) break;
  }
  const [program = 0] = childrenOf(shell.pid);
  const servers = childrenOf(program);
  expect(servers).toHaveLength(2);
  shell.kill("SIGTERM");
  expect(await survivors([program, ...servers])).toEqual([]);
});
