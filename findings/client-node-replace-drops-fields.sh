#!/usr/bin/env bash
# Package: @kubernetes/client-node 2.0.1
# Guess: read, change and `replace` keeps the fields of a newer server, as it does with plain JSON.
# Seen: typed reads keep only the fields of the client's own version: the replace deletes the others from the object.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages @kubernetes/client-node@2.0.1
observe --no-warnings <<'JS'
import { CoreV1Api, KubeConfig, KubernetesObjectApi } from "@kubernetes/client-node";
import { serve } from "./kit.mjs";

const spec = { containers: [{ name: "web", image: "web:1", fieldOfTomorrow: 1 }], alsoOfTomorrow: { a: 1 } };
const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "default" }, spec };
const discovery = { kind: "APIResourceList", groupVersion: "v1", resources: [{ name: "pods", kind: "Pod", namespaced: true }] };
const server = await serve((request, response, _, body) => {
  if (request.method === "PUT") console.log(`PUT spec: ${JSON.stringify(JSON.parse(body).spec)}`);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(request.url.startsWith("/api/v1/namespaces") ? pod : discovery));
});
const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "c", server: server.url, skipTLSVerify: true }, { name: "u" });
const api = config.makeApiClient(CoreV1Api);
const body = await api.readNamespacedPod({ name: "web", namespace: "default" });
await api.replaceNamespacedPod({ name: "web", namespace: "default", body });
const objects = KubernetesObjectApi.makeApiClient(config);
await objects.replace(await objects.read(pod));
process.exit();
JS
expect <<'TEXT'
PUT spec: {"containers":[{"image":"web:1","name":"web"}]}
PUT spec: {"containers":[{"image":"web:1","name":"web"}]}
TEXT
