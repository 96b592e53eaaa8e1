/** A line in the log of several workers: one begins or ends a piece of work. */
export interface WorkEvent {
  readonly worker: string;
  readonly event: "begin" | "end";
  readonly key: string;
}

/** The lines at which a worker begins while another one is at work; none if one worked at a time. */
export function overlapsIn(log: readonly WorkEvent[]): string[] {
  const open = new Map<string, string>();
  return log.flatMap(({ worker, event, key }) => {
    const piece = `${worker} ${key}`;
    if (event === "end") {
      open.delete(piece);
      return [];
    }
    const others = [...open].filter(([, other]) => other !== worker).map(([other]) => other);
    open.set(piece, worker);
    return others.map((other) => `${piece} begins during ${other}`);
  });
}
