import type { JsonObject } from "../object/json.ts";
import { Failure, internalError } from "./failure.ts";
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

export const NOTHING_THERE: ApiResponse = { status: 404, text: "404 page not found\n" };

/** The response for a failure. Other errors are bugs, of FakeApi or of a library, and a 500 that says so. */
export function refusal(error: unknown): ApiResponse {
  const failure = error instanceof Failure ? error : internalError(error);
  const { code: status, status: json, delay, warnings } = failure;
  return { status, json, headers: warningHeaders(warnings), ...(delay && { delay }) };
}

/** The response of `work`, or that for its failure. */
export async function orRefusal(work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  try {
    return await work();
  } catch (error) {
    return refusal(error);
  }
}

/** The response for the failure of `work`. Undefined if it does not fail. */
export function refusalOf(work: () => unknown): ApiResponse | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return refusal(error);
  }
}

/** A response with one more warning, the first. */
export function warnedOf(response: ApiResponse, text: string): ApiResponse {
  const { warning } = warningHeaders([text]) as { warning: string };
  const given = response.headers?.["warning"];
  const all = given === undefined ? warning : `${warning}, ${given}`;
  return { ...response, headers: { ...response.headers, warning: all } };
}

export function warningHeaders(warnings: readonly string[]): Record<string, string> {
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return warning === "" ? {} : { warning };
}
