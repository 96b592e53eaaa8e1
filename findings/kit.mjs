// For the programs of the scripts, which find it beside them: a small HTTP server, and times that are round.
import { createServer } from "node:http";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A time in seconds, rounded to a whole number of steps. */
export const seconds = (ms, step = 0.5) => Math.round(ms / 1000 / step) * step;

/** Serves with `answer(request, response, number of the request, body)`, and keeps the times of the requests. */
export async function serve(answer) {
  const times = [];
  const server = createServer(async (request, response) => {
    times.push(performance.now());
    const number = times.length;
    let body = "";
    try {
      for await (const part of request) body += part;
    } catch {
      return; // the client has gone
    }
    answer(request, response, number, body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    port: server.address().port,
    times,
    /** The delay between the first two requests, in seconds. */
    delay: (step) => (times.length < 2 ? "none" : seconds(times[1] - times[0], step)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers the first `count` requests with the status and the headers, the later ones with 200. */
export const busy =
  (count, status, headers = {}) =>
  (_request, response, number) => {
    response.writeHead(number <= count ? status : 200, {
      "content-type": "application/json",
      ...(number <= count && headers),
    });
    response.end(number <= count ? '{"error":{"message":"busy"}}' : "{}");
  };

let ahead = 0;

/** Steps the wall clock of this process, as NTP or a suspended machine does: timers and performance.now do not move. */
export function stepWallClock(hours) {
  if (ahead === 0) {
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...args) {
        super(...(args.length > 0 ? args : [Real.now() + ahead]));
      }
      static now() {
        return Real.now() + ahead;
      }
    };
  }
  ahead += hours * 3_600_000;
}

/** Whether a promise resolves within a time. */
export const within = (ms, promise) =>
  Promise.race([
    promise.then(
      () => true,
      () => false,
    ),
    sleep(ms).then(() => false),
  ]);
