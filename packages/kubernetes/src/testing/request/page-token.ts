import { badRequest } from "../failure.ts";
import { isObject, parseJson } from "../json.ts";

/** Where the next page of a list begins. */
export interface PageToken {
  /** Version that all pages show. -1 for the latest: an inconsistent list. */
  readonly version: number;

  /** Last key of the page before. */
  readonly after: string;
}

/** The token as clients get it: text that means nothing to them. */
export function formatToken({ version, after }: PageToken): string {
  const text = JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: after });
  return Buffer.from(text, "utf8").toString("base64url");
}

/** @throws Failure for text that is not a token */
export function parseToken(text: string): PageToken {
  const value = parseJson(Buffer.from(text, "base64url").toString("utf8"));
  const { rv, start } = isObject(value) ? value : ({} as { rv?: unknown; start?: unknown });
  if (typeof rv !== "number" || typeof start !== "string")
    throw badRequest("continue key is not valid: incorrect encoding");
  return { version: rv, after: start };
}
