import { delimiter, dirname } from "node:path";
import { vi } from "vitest";
import type { ApiServer } from "../../../../services/apiserver.mjs";
import { freePort } from "../../../../services/free-port.mjs";
import { Program } from "../program.ts";

/** The built greeter as a process, with a kubectl as on a laptop. Its variables stay set: unstub them. */
export async function startGreeter(server: ApiServer): Promise<Program> {
  vi.stubEnv("PORT", String(await freePort()));
  vi.stubEnv("KUBECONFIG", server.kubeconfig);
  vi.stubEnv("PATH", `${dirname(server.kubectlPath)}${delimiter}${process.env["PATH"]}`);
  return new Program("greeter/greeter.js", []);
}
