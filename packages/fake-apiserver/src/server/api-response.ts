import type { JsonObject } from "../object/json.ts";
import { Failure, internalError } from "./failure.ts";
import type { ResponseBody } from "./response-body.ts";

/** A response of the server: an object of JSON, text, or a watch that writes into the body. */
export type ApiResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;

  /** Milliseconds until the server responds. */
  readonly delay?: number;

  /** Texts for the caller. */
  readonly warnings?: readonly string[];
} & (
  | { readonly json: JsonObject }
  | { readonly text: string }
  | { readonly watch: (body: ResponseBody) => void }
);

/** The response to a path at which nothing is. A real server gives no advice. */
export function nothingThere(advice: string): ApiResponse {
  return { status: 404, text: `404 page not found${advice && `: ${advice}`}\n` };
}

/** The response for a failure. Other errors are bugs, of FakeApi or of a library, and a 500 that says so. */
export function refusal(error: unknown): ApiResponse {
  const failure = error instanceof Failure ? error : internalError(error);
  const { code: status, status: json, delay, warnings } = failure;
  return { status, json, warnings, ...(delay && { delay }) };
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

/** The most characters of all warnings; beyond it, those of each. */
const MOST = 4_096;
const MOST_EACH = 256;

/** The header of warnings. Each comes once, and one with a control character not at all. */
export function warningHeaders(warnings: readonly string[] = []): Record<string, string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that a header must not have
  const known = [...new Set(warnings)].filter((text) => text !== "" && !/[\0-\x1f\x7f]/.test(text));
  const isLong = known.reduce((sum, { length }) => sum + length, 0) > MOST;
  let used = 0;
  const kept = (isLong ? known.map((text) => text.slice(0, MOST_EACH)) : known).filter((text) => {
    used += text.length;
    return used - text.length < MOST;
  });
  const warning = kept.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return warning === "" ? {} : { warning };
}
