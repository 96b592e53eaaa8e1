import type { KubeObject, StoredObject } from "../object/kube-object.ts";

/** An object as the server sent it. List items of built-in resources have neither `apiVersion` nor `kind`. */
export type ServerObject = Omit<StoredObject<KubeObject>, "apiVersion" | "kind"> & KubeObject;

const REQUIRED = ["name", "uid", "resourceVersion"] as const;

/**
 * Checks that a value can be cached.
 *
 * @throws TypeError that names the missing field, without any content of the object
 */
export function readObject(value: unknown, kind: string): ServerObject {
  const { metadata } = (value ?? {}) as { metadata?: Readonly<Record<string, unknown>> | null };
  for (const field of REQUIRED) {
    const text = metadata?.[field];
    if (typeof text !== "string" || text === "")
      throw new TypeError(`the server sent a ${kind} without metadata.${field}`);
  }
  return value as ServerObject;
}
