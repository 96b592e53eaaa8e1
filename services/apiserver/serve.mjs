// A real API server for another process, which forks this one: tells where the server is, does what messages
// ask for (`{ id, method }`, answered by `{ id, problem }`), and ends with its parent.
import { once } from "node:events";
import { ApiServer } from "../apiserver.mjs";

const METHODS = ["kill", "startApi", "compact"];

const stop = new AbortController();
process.once("disconnect", () => stop.abort(new Error("the parent is gone")));
for (const name of ["SIGHUP", "SIGINT", "SIGTERM"])
  process.on(name, () => stop.abort(new Error(name)));

try {
  const server = await ApiServer.start(stop.signal);
  const { url, ca, adminToken: token, kubeconfig, kubectlPath, version } = server;
  process.on("message", async (/** @type {{ id: number, method: string }} */ { id, method }) => {
    try {
      if (!METHODS.includes(method)) throw new Error(`no method ${method}`);
      await server[method]();
      process.send?.({ id });
    } catch (error) {
      process.send?.({ id, problem: String(error) });
    }
  });
  process.send?.({ url, ca, token, kubeconfig, kubectlPath, version });
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  await server[Symbol.asyncDispose]();
} catch (error) {
  if (!stop.signal.aborted) console.error(String(error));
  process.exitCode = 1;
} finally {
  if (process.connected) process.disconnect();
}
