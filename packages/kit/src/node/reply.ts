/** A reply that is there as a whole. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** @returns a line of plain text as a reply */
export function textReply(status: number, text: string): Reply {
  return { status, type: "text/plain; charset=utf-8", body: `${text}\n` };
}

/** @returns data as a reply, indented for `curl` */
export function jsonReply(status: number, data: unknown): Reply {
  return { status, type: "application/json", body: `${JSON.stringify(data, undefined, 2)}\n` };
}

/** @returns a text of some media type as a reply */
export function typedReply(type: string, body: string): Reply {
  return { status: 200, type: `${type}; charset=utf-8`, body };
}
