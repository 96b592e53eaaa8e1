// A Kubernetes API server for the contenders that need one, if it is built.

import { built } from "../services/apiserver/build.mjs";
import { ApiServer } from "../services/apiserver.mjs";

/** @returns what contenders find it by, what it is, and how to give it back */
export async function openApiServer() {
  if (!built().apiServer)
    throw new Error('no Kubernetes API server found: build it once with "npm run apiserver"');
  // Whoever stops this process stops the server, too.
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])
    process.once(signal, () => process.exit(code));
  const server = await ApiServer.start();
  return {
    env: {
      API_URL: server.url,
      API_CA: server.ca,
      API_TOKEN: server.adminToken,
      API_PID: `${server.pid}`,
    },
    facts: `Kubernetes: ${server.version} on etcd without fsync`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
