import type { Answer } from "./script.ts";

/** The events of a watch, read as many at a time as asked for. */
export class WatchStream {
  readonly #events: AsyncGenerator<unknown, void>;

  /** @param bookmarks - whether bookmarks are events */
  constructor(body: AsyncIterable<Uint8Array>, bookmarks: boolean) {
    this.#events = eventsOf(body, bookmarks);
  }

  /** Reads that many events, or all up to the end of the stream. */
  async read(take: number | "end"): Promise<Answer> {
    const events: unknown[] = [];
    while (take === "end" || events.length < take) {
      const { value, done } = await this.#events.next();
      if (done) return { events, ...(take !== "end" && { ended: true }) };
      events.push(value);
    }
    return { events };
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    await this.#events.return();
  }
}

async function* eventsOf(body: AsyncIterable<Uint8Array>, bookmarks: boolean) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line);
      if (bookmarks || event.type !== "BOOKMARK") yield event;
    }
  }
}
