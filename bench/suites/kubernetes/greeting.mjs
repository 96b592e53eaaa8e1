export const NAMESPACE = "bench";

/** The objects of the operators. */
export const greetingCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "greetings.bench.example.org" },
  spec: {
    group: "bench.example.org",
    scope: "Namespaced",
    names: { kind: "Greeting", plural: "greetings", singular: "greeting" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { name: { type: "string" } } },
              status: { type: "object", properties: { text: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
};
