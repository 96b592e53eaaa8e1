import { onAbort } from "@holdfast/clock";
import {
  type Line,
  type Live,
  type OpenCall,
  Recorder,
  Redactor,
  type Tape,
} from "@holdfast/controller/recording";
import { messageOf } from "@holdfast/kit";
import { ConnectionError, codeOf } from "./connection-error.ts";
import {
  inShape,
  type KeptTexts,
  keepsParts,
  keptText,
  learnRecorded,
  losesBody,
} from "./kept-text.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "./kube-transport.ts";
import { RecordedBody } from "./recorded-body.ts";

/** Headers that a recorded program sees. */
const HEADERS = ["content-type", "retry-after", "date", "warning"];

/** Longest part of a body that waits for its end, in bytes. */
const MOST = 16 * 1024 * 1024;

/** The reason for which a request ends that the program has left. */
const LEFT = new Error("the program has left the request");

const NEWLINE = 10;
const NOTHING = new Uint8Array();

/** A transport to record: the heads and bodies of its responses, and their errors, are inputs. */
export class RecordedTransport implements KubeTransport {
  readonly description: string;
  readonly namespace?: string;
  readonly #tape: Tape;
  readonly #inner: KubeTransport;
  readonly #kept: KeptTexts | undefined;
  /** In a replay, the values of Secrets that the operator has written. */
  readonly #written = new Redactor();

  /** @param redact - see the option of `recording` */
  constructor(tape: Tape, inner: KubeTransport, redact: KeptTexts["redact"]) {
    this.description = inner.description;
    if (inner.namespace !== undefined) this.namespace = inner.namespace;
    this.#tape = tape;
    this.#inner = inner;
    this.#kept = tape instanceof Recorder ? { redactor: tape.redactor, redact } : undefined;
  }

  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const exchange: Exchange = { request, resolve, reject, body: undefined, close: () => {} };
      const call = this.#tape.open(this.#askOf(request), {
        comparable: comparableOf(request),
        onMatch: ({ body }) => learnRecorded(request.path, [request.body, body], this.#written),
        take: (input, live) => this.#take(exchange, input, live),
        begin: (emit) => this.#begin(request, emit),
      });
      const subscription = onAbort(signal, (reason) => {
        exchange.close();
        exchange.body?.fail(reason);
        reject(reason);
      });
      exchange.close = () => {
        subscription[Symbol.dispose]();
        call.close();
      };
    });
  }

  async closeIdle(): Promise<void> {
    const { closeIdle } = this.#tape.link(
      { closeIdle: async () => await this.#inner.closeIdle?.() },
      "transport",
    );
    await closeIdle();
  }

  #askOf({ method, path, headers, body }: KubeRequest): Line {
    const text = losesBody({ path }) || body === undefined ? undefined : this.#keep(path, body);
    const line = {
      ...{ k: "q", m: method, u: path, h: headers["content-type"], a: headers["accept"] },
      ...(text !== undefined && { body: text }),
    };
    return this.#written.replaceIn(line) as Line;
  }

  #keep(path: string, text: string): string {
    return this.#kept === undefined ? text : keptText(path, text, this.#kept);
  }

  /** Gives an input to the program. */
  #take(exchange: Exchange, input: Line, live: Live | undefined): void {
    if (input.k === "b") ask(exchange, live?.value as Asked | undefined);
    else if (input.k === "h") takeHead(exchange, input, live?.value as KubeResponse | undefined);
    else if (input.k === "x") {
      const error = live === undefined ? this.#errorOf(exchange.request, input) : live.value;
      exchange.close();
      exchange.body?.fail(error);
      exchange.reject(error);
    } else takeBody(exchange, input, live?.value as Uint8Array | undefined);
  }

  #errorOf(request: KubeRequest, { code, message }: Line): Error {
    return new ConnectionError(
      request,
      this.description,
      Object.assign(new Error(`${message}`), { code }),
    );
  }

  #begin(request: KubeRequest, emit: Emit): () => void {
    const end = new AbortController();
    let isOver = false;
    void this.#perform(request, end.signal, emit).then(() => {
      isOver = true;
    });
    return () => {
      if (!isOver) end.abort(LEFT); // an abort without a reason makes an error with a stack
    };
  }

  async #perform(request: KubeRequest, signal: AbortSignal, emit: Emit): Promise<void> {
    const beforeSend = (): Promise<void> =>
      new Promise((resolve, reject) => emit({ k: "b" }, { value: { resolve, reject } }));
    const sent = request.beforeSend === undefined ? request : { ...request, beforeSend };
    try {
      const response = await this.#inner.send(sent, signal);
      const headers = Object.fromEntries(HEADERS.map((name) => [name, response.headers[name]]));
      emit({ k: "h", s: response.status, h: headers }, { value: response });
      await this.#read(request, response, emit);
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      const of = error instanceof ConnectionError ? cause : error;
      emit({ k: "x", code: codeOf(of), message: messageOf(of) }, { value: error });
    }
  }

  /** Delivers a body: whole, or the lines of a watch as they come. */
  async #read(request: KubeRequest, response: KubeResponse, emit: Emit): Promise<void> {
    const isWatch = /[?&]watch=(true|1)/.test(request.path) && response.status < 300;
    const isWhole = this.#kept !== undefined && keepsParts(request.path, this.#kept);
    const parts: Uint8Array[] = [];
    let size = 0;
    const take = (): Uint8Array => {
      const bytes = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
      parts.length = 0;
      size = 0;
      return bytes;
    };
    const emitAs = (k: "c" | "e", bytes: Uint8Array): void =>
      emit({ k, ...this.#bodyOf(request, response, bytes) }, { value: bytes });
    for await (const chunk of response.body) {
      const end = isWatch ? chunk.lastIndexOf(NEWLINE) + 1 : 0;
      if (end > 0) {
        parts.push(chunk.subarray(0, end));
        emitAs("c", take());
      }
      parts.push(chunk.subarray(end));
      size += chunk.length - end;
      if (size > MOST && !isWhole) emitAs("c", take());
    }
    emitAs("e", size === 0 ? NOTHING : take());
  }

  /** The part of a body that is kept: its bytes as they are, or its text without a part. */
  #bodyOf({ path }: KubeRequest, { status, hide }: KubeResponse, bytes: Uint8Array): object {
    if (bytes.length === 0 || losesBody({ path })) return {};
    const hidden = status >= 400 ? hide : undefined;
    const isKept = this.#kept === undefined || !keepsParts(path, this.#kept);
    if (isKept && hidden === undefined) return { body: bytes };
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    return { body: this.#keep(path, hidden?.(text) ?? text) };
  }
}

type Emit = (input: Line, live?: Live) => void;

/** A request, as the program waits for it. */
interface Exchange {
  readonly request: KubeRequest;
  readonly resolve: (response: KubeResponse) => void;
  readonly reject: (error: unknown) => void;
  body: RecordedBody | undefined;
  close: OpenCall["close"];
}

/** The transport, which asks whether to send. */
interface Asked {
  resolve(): void;
  reject(error: unknown): void;
}

/** The connection is ready: the program may refuse to send. */
function ask({ request, reject, close }: Exchange, asked: Asked | undefined): void {
  try {
    void request.beforeSend?.();
    asked?.resolve();
  } catch (error) {
    reject(error);
    close();
    asked?.reject(error);
  }
}

function takeHead(exchange: Exchange, { s, h }: Line, response: KubeResponse | undefined): void {
  const body = new RecordedBody(() => exchange.close());
  exchange.body = body;
  const head = { status: s as number, headers: h as KubeResponse["headers"], body };
  const hide = response?.hide;
  exchange.resolve(hide === undefined ? head : { ...head, hide });
}

function takeBody({ body, close }: Exchange, input: Line, bytes: Uint8Array | undefined): void {
  body?.push(bytes ?? bytesOf(input));
  if (input.k !== "e") return;
  close();
  body?.end();
}

function comparableOf({ path }: KubeRequest): (line: Line) => unknown {
  return (line) => ({ ...line, body: inShape(path, line["body"]) });
}

function bytesOf({ body, bytes }: Line): Uint8Array {
  if (typeof bytes === "string") return Buffer.from(bytes, "base64");
  return typeof body === "string" ? Buffer.from(body) : NOTHING;
}
