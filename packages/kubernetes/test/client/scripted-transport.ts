import type { KubeRequest, KubeResponse, KubeTransport } from "@holdfast/kubernetes";

/** An answer of a script. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text is sent as it is. */
  readonly body?: unknown;
  /** The body, in place of `body`. */
  readonly chunks?: AsyncIterable<Uint8Array>;
}

/** What happens to a request: an answer, an error, or nothing until the abort. */
export type Step = Answer | Error | "silence";

/** Answers requests in memory, one step each; the last step is repeated. */
export function scriptedTransport(...steps: readonly Step[]) {
  const requests: KubeRequest[] = [];
  const transport: KubeTransport = {
    description: "script",
    async send(request, signal): Promise<KubeResponse> {
      const step = steps[Math.min(requests.length, steps.length - 1)] ?? {};
      requests.push(request);
      if (step === "silence") return await untilAbort(signal);
      if (step instanceof Error) throw step;
      const { status = 200, headers = {}, body = { metadata: { name: "ann" } } } = step;
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return { status, headers, body: step.chunks ?? chunksOf(text) };
    },
  };
  return { transport, requests };
}

function untilAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text));
}

/** The answer of a server that refuses. */
export function failure(code: number, reason: string, more: object = {}): Answer {
  const { headers = {}, ...rest } = more as { headers?: Record<string, string> };
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason };
  return { status: code, headers, body: { ...body, message: `it is ${reason}`, ...rest } };
}

/** A refusal that names seconds to wait. */
export function busy(code: number, seconds: number): Answer {
  const reason = code === 429 ? "TooManyRequests" : "ServiceUnavailable";
  return failure(code, reason, { headers: { "retry-after": String(seconds) } });
}
