/** A Pod of about 2.5 kB, as a cluster holds them, with the fields that the server manages. */
export function pod(number, version) {
  const name = `web-${String(number).padStart(6, "0")}`;
  return {
    metadata: {
      name,
      namespace: `team-${number % 50}`,
      uid: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
      resourceVersion: `${version}`,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web", "pod-template-hash": "7d5b8c9f4", team: `team-${number % 50}` },
      annotations: { "example.org/checksum": "a".repeat(64) },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web-7d5b8c9f4",
          uid: `10000000-0000-4000-8000-${String(number % 5_000).padStart(12, "0")}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [manager("kube-controller-manager"), manager("kubelet")],
    },
    spec: {
      containers: [
        {
          name: "web",
          image: "registry.example.org/team/web:1.42.0",
          ports: [{ containerPort: 8080, name: "http", protocol: "TCP" }],
          env: [
            { name: "PORT", value: "8080" },
            { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          ],
          resources: { limits: { memory: "256Mi" }, requests: { cpu: "50m", memory: "128Mi" } },
        },
      ],
      nodeName: `node-${number % 200}`,
      restartPolicy: "Always",
      serviceAccountName: "web",
      terminationGracePeriodSeconds: 30,
    },
    status: {
      phase: "Running",
      podIP: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
      startTime: "2026-01-01T00:00:01Z",
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:05Z",
      })),
    },
  };
}

function manager(name) {
  const fields = {
    "f:metadata": { "f:labels": { "f:app": {}, "f:team": {} } },
    "f:spec": { "f:nodeName": {} },
  };
  return {
    manager: name,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: fields,
  };
}
