import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";

async function* eventsOf(texts: AsyncIterable<string>): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  for await (const text of texts) {
    parser.feed(text);
    yield* events.splice(0);
  }
}

/**
 * Listens to server-sent events. One connection each, so nothing stays open.
 *
 * @param signal - ends the connection, and with it the events
 * @returns the events, when the server has accepted. Reading them rejects if the connection breaks
 */
export async function openEvents(
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<EventSourceMessage>> {
  const request = get(url, { agent: false, signal });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode === 200) return eventsOf(response.setEncoding("utf8"));
  response.destroy();
  throw new Error(`${url} responded ${response.statusCode}`);
}
