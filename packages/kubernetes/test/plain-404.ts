import type { Fault } from "@holdfast/fake-apiserver";

/** The answer of an API server that does not serve a path, or not yet: no `Status`, no reason. */
export const plain404: Fault = {
  type: "text",
  status: 404,
  text: "404 page not found\n",
  contentType: "text/plain; charset=utf-8",
};
