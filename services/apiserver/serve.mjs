// A real API server for another process, which forks this one: tells where the server is, does what messages
// ask for (`{ id, method }`, answered by `{ id, problem }`), and ends with its parent.
import { ApiServer } from "../apiserver.mjs";

const METHODS = ["kill", "startApi", "compact"];

const stop = new AbortController();
process.once("disconnect", () => stop.abort(new Error("the parent is gone")));
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stop.abort(new Error(name)));

try {
  await using server = await ApiServer.start(stop.signal);
  const { url, ca, adminToken: token, kubeconfig, version } = server;
  process.on("message", async ({ id, method }) => {
    try {
      if (!METHODS.includes(method)) throw new Error(`no method ${method}`);
      await server[method]();
      process.send?.({ id });
    } catch (error) {
      process.send?.({ id, problem: String(error) });
    }
  });
  process.send?.({ url, ca, token, kubeconfig, version });
  await new Promise((resolve) => {
    if (stop.signal.aborted) resolve(undefined);
    stop.signal.addEventListener("abort", resolve, { once: true });
  });
} catch (error) {
  if (!stop.signal.aborted) console.error(String(error));
  process.exitCode = 1;
} finally {
  if (process.connected) process.disconnect();
}
