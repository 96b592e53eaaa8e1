import type { JsonObject } from "../object/json.ts";
import type { ResponseBody } from "./response-body.ts";

/** A response of the server: an object of JSON, text, or a watch that writes into the body. */
export type ApiResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;

  /** Milliseconds until the server responds. */
  readonly delay?: number;
} & (
  | { readonly json: JsonObject }
  | { readonly text: string }
  | { readonly watch: (body: ResponseBody) => void }
);
