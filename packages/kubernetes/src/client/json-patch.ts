/** One operation of a JSON patch (RFC 6902). Paths are JSON pointers such as `/spec/replicas`. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** A JSON patch: operations that the server carries out in order, all or none. */
export type JsonPatch = readonly JsonPatchOperation[];
