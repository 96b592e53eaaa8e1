import type { AnswerBody } from "./answer-body.ts";
import type { JsonObject } from "./json.ts";

/** A response of the server: an object of JSON, text, or a watch that writes into the body. */
export type ApiAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;

  /** Milliseconds until the server answers. */
  readonly delay?: number;
} & (
  | { readonly json: JsonObject }
  | { readonly text: string }
  | { readonly watch: (body: AnswerBody) => void }
);
