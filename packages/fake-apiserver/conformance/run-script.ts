// Runs a script on any server that a transport reaches.
import { parse } from "yaml";
import { resolveReferences } from "./references.ts";
import {
  type Answer,
  type Caller,
  namespaceOf,
  type RequestStep,
  type Script,
  type Step,
  type WatchReading,
} from "./script.ts";
import { WatchStream } from "./watch-stream.ts";

/** A request, in the form that `KubeTransport.send` takes. */
export interface ScriptRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** An answer, in the form that `KubeTransport.send` gives. */
export interface ScriptResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** `send` of a `KubeTransport`. */
export type Send = (request: ScriptRequest, signal: AbortSignal) => Promise<ScriptResponse>;

/** A review that a webhook has got. */
export interface SeenReview {
  readonly hook: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Options for {@link runScript}. */
export interface RunOptions {
  /** Transports of the callers besides the administrator. */
  readonly callers?: Partial<Record<Caller, Send>>;

  /** Makes the server forget its history. */
  readonly forget?: () => Promise<unknown>;

  /** Takes the reviews that webhooks have got since the last call. */
  readonly takeReviews?: () => readonly SeenReview[];

  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a script.
 *
 * @param send - transport of the administrator
 * @returns an answer for each step
 * @throws Error if the script refers to nothing, or needs a caller or an ability that `options` lack
 */
export async function runScript(
  send: Send,
  script: Script,
  options: RunOptions = {},
): Promise<Answer[]> {
  const run = new Run(send, script, options);
  try {
    const answers: Answer[] = [];
    for (const step of script.steps) {
      const answer = await run.take(step);
      const reviews = reviewsOf(options.takeReviews?.() ?? []);
      answers.push(reviews.length === 0 ? answer : { ...answer, reviews });
    }
    return answers;
  } finally {
    run.close();
  }
}

/** Reviews by the name of the webhook, without what the server draws and without the caller. */
function reviewsOf(seen: readonly SeenReview[]): unknown[] {
  return [...seen]
    .sort((a, b) => (a.hook < b.hook ? -1 : Number(a.hook > b.hook)))
    .map(({ hook, request: { uid: _, userInfo: __, ...request } }) => ({ hook, request }));
}

class Run {
  readonly #answers = new Map<string, Answer>();
  readonly #watches = new Map<string, WatchStream>();
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #namespace: string;
  readonly #senders: Partial<Record<Caller, Send>>;
  readonly #forget: (() => Promise<unknown>) | undefined;

  constructor(send: Send, script: Script, { callers, forget, signal }: RunOptions) {
    this.#namespace = namespaceOf(script);
    this.#senders = { ...callers, admin: send };
    this.#forget = forget;
    const { signal: closing } = this.#closing;
    this.#signal = signal === undefined ? closing : AbortSignal.any([closing, signal]);
  }

  async take(step: Step): Promise<Answer> {
    if ("server" in step) {
      if (this.#forget === undefined) throw new Error("the script needs a server that can forget");
      await this.#forget();
      return {};
    }
    if ("read" in step) {
      const stream = this.#watches.get(step.read);
      if (stream === undefined) throw new Error(`the step ${step.read} has left no watch open`);
      return await stream.read(step.take);
    }
    const answer = await this.#request(step);
    if (step.id !== undefined) this.#answers.set(step.id, answer);
    return answer;
  }

  close(): void {
    this.#closing.abort(new Error("the script is over"));
  }

  async #request(step: RequestStep): Promise<Answer> {
    const send = this.#senders[step.as ?? "admin"];
    if (send === undefined) throw new Error(`the script needs a transport of the ${step.as}`);
    const known = { namespace: this.#namespace, answers: this.#answers };
    const response = await send(requestOf(resolveReferences(step, known)), this.#signal);
    const head = headOf(response);
    if (step.watch === undefined || response.status !== 200)
      return { ...head, ...(await bodyOf(response, head.type)) };
    return { ...head, ...(await this.#watch(step.id, step.watch, response)) };
  }

  async #watch(
    id: string | undefined,
    { take, hold = false, bookmarks = false }: WatchReading,
    { body }: ScriptResponse,
  ): Promise<Answer> {
    const stream = new WatchStream(body, bookmarks);
    const answer = await stream.read(take);
    if (!hold) await stream.close();
    else if (id === undefined) throw new Error("a watch that stays open needs an id");
    else this.#watches.set(id, stream);
    return answer;
  }
}

function requestOf(step: RequestStep): ScriptRequest {
  const { method, path, query = {}, body, accept = "application/json" } = step;
  const parameters = new URLSearchParams({ ...query, ...(step.watch && { watch: "true" }) });
  const search = parameters.size === 0 ? "" : `?${parameters}`;
  const headers = { accept, "user-agent": "script" };
  if (body === undefined) return { method, path: `${path}${search}`, headers };
  return {
    method,
    path: `${path}${search}`,
    headers: { ...headers, "content-type": step.contentType ?? "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

function headOf({ status, headers }: ScriptResponse) {
  const type = String(headers["content-type"] ?? "").replace(/;.*$/s, "");
  const warnings = [headers["warning"] ?? []]
    .flat()
    .flatMap((line) => line.split(/, (?=\d{3} )/))
    .map((line) => line.replace(/^\d{3} \S+ "(.*)"$/s, "$1").replaceAll('\\"', '"'));
  return { status, type, ...(warnings.length > 0 && { warnings }) };
}

async function bodyOf(response: ScriptResponse, type: string): Promise<Answer> {
  const text = await bodyText(response);
  if (text === "") return {};
  if (type === "application/yaml") return { body: parse(text) };
  return { body: type === "application/json" ? JSON.parse(text) : text.trim() };
}

/** The whole body of an answer. */
export async function bodyText({ body }: ScriptResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
