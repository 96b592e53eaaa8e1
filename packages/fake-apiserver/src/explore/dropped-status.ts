import type { KubeRequest } from "@holdfast/kubernetes";
import { isObject, type JsonObject, own } from "../object/json.ts";

/**
 * Whether the server has dropped the status of a write to an object itself: the answer has another one. A server with the
 * subresource keeps the status that the object had.
 *
 * @param answer - the text of a successful response
 */
export function dropsStatus({ method, body = "{}" }: KubeRequest, answer: string): boolean {
  if (method !== "PUT" && method !== "PATCH") return false;
  const written: unknown = JSON.parse(body);
  const { status } = JSON.parse(answer) as JsonObject;
  if (!Array.isArray(written)) return !isWithin(own(written as JsonObject, "status"), status);
  return written.some((step: unknown) => isObject(step) && isOfStatus(step, status));
}

/** Whether a step of a JSON patch changes the status to another than the one given. Items of lists are not compared. */
function isOfStatus({ op, path, value }: JsonObject, status: unknown): boolean {
  const [, part, ...names] = String(path).split("/");
  if (part !== "status" || (op !== "add" && op !== "replace")) return false;
  let found = status;
  for (const name of names) {
    if (Array.isArray(found)) return false;
    found = isObject(found) ? own(found, name) : undefined;
  }
  return !isWithin(value, found);
}

/** Whether an answer has all that was written. What was null is gone. */
function isWithin(written: unknown, answer: unknown): boolean {
  if (written === null || written === undefined) return true;
  if (Array.isArray(written))
    return (
      Array.isArray(answer) &&
      written.every((item) => answer.some((other: unknown) => isWithin(item, other)))
    );
  if (!isObject(written)) return written === answer;
  return Object.entries(written).every(([name, value]) =>
    isWithin(value, isObject(answer) ? own(answer, name) : undefined),
  );
}
