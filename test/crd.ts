// Manifests of custom resources.

/** What a manifest has besides what all have; other fields are those of its `spec`. */
interface Parts {
  readonly kind: string;

  /** Default: "example.org". */
  readonly group?: string;

  /** Names besides the kind and the plural. */
  readonly names?: object;

  /** Fields of an object, by name. */
  readonly properties?: object;

  /** The schema of an object besides them. */
  readonly root?: object;

  /** The only version besides its schema. Default: v1, without a subresource. */
  readonly version?: object;

  readonly [field: string]: unknown;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** The manifest of a custom resource; namespaced, with one version. */
export function crdOf(parts: Parts): Manifest {
  const { kind, group = "example.org", names, properties, root, version, ...more } = parts;
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", properties, ...root } };
  const only = { name: "v1", served: true, storage: true, schema, ...version };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, ...names },
      versions: [only],
      ...more,
    },
  };
}
