import { request } from "node:http";
import { realClock } from "@holdfast/clock";
import { serveLivePage, textReply } from "@holdfast/kit/node";
import { expect, it } from "vitest";

const TOKEN = "the-token";
const OWN = { authorization: `Bearer ${TOKEN}` };

/** A page with a path of each sort, and what it did. */
async function world({ token }: { readonly token: string | undefined } = { token: TOKEN }) {
  const done: string[] = [];
  const server = await serveLivePage({
    clock: realClock,
    realClock,
    port: 0,
    token,
    status: {
      snapshot: () => ({ at: 0, secret: "<s>" }),
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    },
    forOthers: (snapshot) => ({ ...snapshot, secret: "" }),
    title: () => "t",
    main: ({ secret }) => `secret: ${secret}`,
    reply: ({ pathname }) => {
      if (!["/open", "/secret", "/act"].includes(pathname)) return undefined;
      done.push(pathname);
      return textReply(200, "done");
    },
    actions: new Set(["/act"]),
    secret: new Set(["/secret"]),
  });
  const { origin } = new URL(server.url);
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) =>
    await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(
        new URL(path, origin),
        { method, headers, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asked.on("error", reject).end();
    });
  return { server, origin, ask, done };
}

/** Headers of a request that shows the right token, and is refused all the same. */
const FOREIGN: readonly (readonly [Record<string, string>, number])[] = [
  [{ origin: "http://example.org" }, 403],
  [{ origin: "http://127.0.0.1.example.org" }, 403],
  [{ origin: "null" }, 403],
  [{ origin: "" }, 403],
  [{ host: "example.org" }, 421],
];

it("an action is for its own page and for programs, with the token in the header", async () => {
  const { server, origin, ask, done } = await world();
  await using _ = server;
  for (const [headers, status] of FOREIGN)
    expect([headers, await ask("POST", "/act", { ...OWN, ...headers })]).toEqual([headers, status]);
  for (const authorization of ["", "Bearer", "Bearer the-tokeN", "Bearer the-token2", TOKEN])
    expect([authorization, await ask("POST", "/act", { authorization })]).toEqual([
      authorization,
      403,
    ]);
  expect(await ask("POST", `/act?token=${TOKEN}`)).toBe(403);
  expect(await ask("GET", "/act", OWN)).toBe(405);
  expect(done).toEqual([]);
  expect(await ask("POST", "/act", OWN)).toBe(200);
  expect(await ask("POST", "/act", { ...OWN, origin })).toBe(200);
  expect(done).toEqual(["/act", "/act"]);
});

it("a secret path needs the token in the header, others need none", async () => {
  const { server, ask } = await world();
  await using _ = server;
  expect(await ask("GET", "/secret")).toBe(403);
  expect(await ask("GET", `/secret?token=${TOKEN}`)).toBe(403);
  expect(await ask("GET", "/secret", OWN)).toBe(200);
  expect(await ask("GET", "/open")).toBe(200);
});

it.each([undefined, ""])("a page with the token %j lets nobody act", async (token) => {
  const { server, ask } = await world({ token });
  await using _ = server;
  for (const authorization of ["", "Bearer ", "Bearer undefined"])
    expect(await ask("POST", "/act", { authorization })).toBe(403);
  expect(await ask("GET", "/secret", { authorization: "Bearer " })).toBe(403);
});

it("shows a secret for the token of the address alone", async () => {
  const { server, origin } = await world();
  await using _ = server;
  const mainOf = async (path: string): Promise<string | undefined> =>
    /<main>(.*)<\/main>/.exec(await (await fetch(new URL(path, origin))).text())?.[1];
  expect(await mainOf(`/?token=${TOKEN}`)).toBe("secret: <s>");
  expect(await mainOf("/?token=other")).toBe("secret: ");
  expect(await mainOf("/")).toBe("secret: ");
});
