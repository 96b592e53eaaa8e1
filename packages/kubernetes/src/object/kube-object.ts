/** Reference to the owner of an object, in `metadata.ownerReferences`. */
export interface OwnerReference {
  /** API version of the owner, for example `apps/v1`. */
  apiVersion: string;

  /** Kind of the owner. */
  kind: string;

  /** Name of the owner. */
  name: string;

  /** UID of the owner. */
  uid: string;

  /** Whether the owner is the one controller that manages the object. */
  controller?: boolean | undefined;

  /** Whether a foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean | undefined;
}

/** Metadata that every object of Kubernetes may have. Times are RFC 3339 strings. */
export interface ObjectMeta {
  /** Name, unique among the objects of its kind and namespace. */
  name?: string | undefined;

  /** Prefix from which the server makes a name. */
  generateName?: string | undefined;

  /** Namespace. Objects of cluster scope have none. */
  namespace?: string | undefined;

  /** Labels, by which a selector finds the object. */
  labels?: { [name: string]: string } | undefined;

  /** Annotations. */
  annotations?: { [name: string]: string } | undefined;

  /** UID. An object that is deleted and created again gets another. */
  uid?: string | undefined;

  /** Version of the object, changed by every write. */
  resourceVersion?: string | undefined;

  /** Number of the spec, raised by every change of it and by a deletion. */
  generation?: number | undefined;

  /** Time of the creation. */
  creationTimestamp?: string | undefined;

  /** Time from which the object is being deleted. */
  deletionTimestamp?: string | undefined;

  /** Seconds that a deletion may take. */
  deletionGracePeriodSeconds?: number | undefined;

  /** Names of the parties that must clean up before a deleted object goes. */
  finalizers?: string[] | undefined;

  /** Owners. The object is collected when all of them are gone. */
  ownerReferences?: OwnerReference[] | undefined;

  /** Fields by the manager that applied them. */
  managedFields?: object[] | undefined;
}

/**
 * The part that every object of Kubernetes has. Types of `kubernetes-types` fit; types of
 * `@kubernetes/client-node` fit through {@link Jsonify}.
 */
export interface KubeObject {
  /** API version, for example `apps/v1`. The client fills it in. */
  apiVersion?: string | undefined;

  /** Kind. The client fills it in. */
  kind?: string | undefined;

  /** Metadata. */
  metadata?: ObjectMeta | undefined;
}

/** Metadata of an object that the server has stored. */
export type StoredMeta<Meta> = Omit<
  Meta,
  "name" | "uid" | "resourceVersion" | "creationTimestamp"
> & {
  /** Name. */
  name: string;

  /** UID. */
  uid: string;

  /** Version. */
  resourceVersion: string;

  /** Time of the creation, RFC 3339. */
  creationTimestamp: string;
};

/** `T` as the server returns it: with kind, name, UID, version and time of creation. */
export type StoredObject<T extends KubeObject> = Omit<T, keyof KubeObject> & {
  /** API version. */
  apiVersion: NonNullable<T["apiVersion"]>;

  /** Kind. */
  kind: NonNullable<T["kind"]>;

  /** Metadata. */
  metadata: StoredMeta<NonNullable<T["metadata"]>>;
};

/** `T` as a cache returns it: stored, and frozen at every depth. */
export type CachedObject<T extends KubeObject = KubeObject> = DeepReadonly<StoredObject<T>>;

/** `T` with every property read-only, at every depth. */
export type DeepReadonly<T> = T extends (...parameters: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/**
 * `T` as an argument: read-only objects are accepted, and `undefined` for every optional property, which is
 * the same as leaving it out.
 */
export type DeepInput<T> = T extends object
  ? {
      readonly [Key in keyof T]: object extends Pick<T, Key>
        ? DeepInput<T[Key]> | undefined
        : DeepInput<T[Key]>;
    }
  : T;

/** A part of `T`: any property may be missing, at any depth. Arrays are whole. */
export type PartialInput<T> = T extends readonly unknown[]
  ? DeepInput<T>
  : T extends object
    ? { readonly [Key in keyof T]?: PartialInput<T[Key]> | undefined }
    : T;

/** `T` as an argument of `create`: with a name, or a prefix from which the server makes one. */
export type CreateInput<T> = DeepInput<T> & { readonly metadata?: object | undefined };

/** `T` as an argument of `update`: with the name and the version it was read with. */
export type UpdateInput<T> = DeepInput<T> & {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
};

/** A part of `T` as an argument of `apply`: with the name of the object. */
export type ApplyInput<T> = PartialInput<T> & { readonly metadata: { readonly name: string } };

/** A merge patch of `T` (RFC 7386): a part of it, in which `null` removes a property. */
export type MergePatch<T> = { readonly [Key in keyof T]?: MergePatchValue<T[Key]> };

/** A value in a {@link MergePatch}. Arrays are whole. */
export type MergePatchValue<T> =
  | (T extends readonly unknown[] ? DeepInput<T> : T extends object ? MergePatch<T> : T)
  | null
  | undefined;

/** One operation of a JSON patch (RFC 6902). Paths are JSON pointers such as `/spec/replicas`. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** A JSON patch: operations that the server carries out in order, all or none. */
export type JsonPatch = readonly JsonPatchOperation[];

/**
 * `T` as it arrives in JSON: a `Date` is a string. For the types of `@kubernetes/client-node`, which say
 * `Date` for fields that arrive as strings.
 */
export type Jsonify<T> = T extends Date
  ? string
  : T extends object
    ? { [Key in keyof T]: Jsonify<T[Key]> }
    : T;

/** A condition in the status of an object. `Condition` of `kubernetes-types` fits. */
export interface StatusCondition {
  /** Type, for example `Ready`. One condition of a type. */
  readonly type: string;

  /** `"True"`, `"False"` or `"Unknown"`. */
  readonly status: string;

  /** Reason of the status in one word, for machines. */
  readonly reason: string;

  /** Explanation, for people. May be empty. */
  readonly message: string;

  /** `metadata.generation` that the condition is about. */
  readonly observedGeneration?: number | undefined;

  /** Time of the last change of `status`, RFC 3339. */
  readonly lastTransitionTime: string;
}
