import type { ServerResponse } from "node:http";

/** An answer that is there as a whole. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** @returns a line of plain text as an answer */
export function textReply(status: number, text: string): Reply {
  return { status, type: "text/plain; charset=utf-8", body: `${text}\n` };
}

/** @returns data as an answer, indented for `curl` */
export function jsonReply(status: number, data: unknown): Reply {
  return { status, type: "application/json", body: `${JSON.stringify(data, undefined, 2)}\n` };
}

/** Sends an answer. Node leaves the body out where the question was HEAD. */
export function sendReply(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
