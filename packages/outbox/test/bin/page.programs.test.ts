import { deferred } from "@holdfast/kit";
import { describe, expect, it } from "vitest";
import { CommandWorld, message } from "./fake-io.ts";

// Sockets are real here, and time is not.

/** A page that is served until `stop`, and its address. */
async function serve(world: CommandWorld, args: readonly string[] = []) {
  const stop = new AbortController();
  let run: ReturnType<CommandWorld["run"]> | undefined;
  const printed = await new Promise<string>((resolve, reject) => {
    run = world.run(["page", ...args], {
      signal: stop.signal,
      print: (text) => resolve(text.trim()),
    });
    run.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  const url = new URL(printed.startsWith("{") ? JSON.parse(printed).url : printed);
  const at = (path: string): string => new URL(`${path}${url.search}`, url).href;
  const state = async () => (await (await fetch(at("state"))).json()) as unknown;
  const end = async () => {
    stop.abort();
    return await run;
  };
  return { printed, url, at, state, end };
}

describe("npx @holdfast/outbox page", () => {
  it("serves the status and the dead letters in its HTML, without markup of theirs, and follows them", async () => {
    const world = new CommandWorld();
    await world.die([message(1, { key: "<b>&", payload: "secret" })], "HTTP 500 <i>\u001b");
    const { printed, url, state, end } = await serve(world);
    expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{22}$/);
    const html = await (await fetch(url)).text();
    expect(html).toContain("<dt>dead</dt><dd>1</dd>");
    expect(html).toContain(
      "<td>&lt;b&gt;&amp;</td><td>1 of 25</td><td>HTTP 500 &lt;i&gt;\\u{1b}</td>",
    );
    expect(html).not.toContain("secret");
    expect(html).toContain('<p id="problem" role="alert"></p>');
    expect(html).not.toContain("The first");
    await world.die([message(2)]);
    await world.clock.step(1_999);
    expect(await state()).toMatchObject({ status: { dead: 1 } });
    await world.clock.step(1);
    expect(await state()).toMatchObject({ status: { dead: 2 }, letters: [{}, { key: "order/2" }] });
    await end();
  });

  it("tells that there are more dead letters than it shows, and that no relay claims what is due", async () => {
    const world = new CommandWorld();
    await world.die(Array.from({ length: 101 }, (_, i) => message(i + 1)));
    await world.store.transaction((tx) => world.store.save(tx, message(102), world.clock.now()));
    await world.clock.step(60_000);
    const { url, end } = await serve(world);
    const html = await (await fetch(url)).text();
    expect(html).toContain('<p id="more">The first 100.</p>');
    expect(html).toContain(">Messages are due and no relay claims them: is one running?</p>");
    await end();
  });

  it("names the topics that are paused, with messages or without", async () => {
    const world = new CommandWorld();
    await world.store.pause("<i>");
    await world.store.pause("orders");
    const { url, end } = await serve(world);
    expect(await (await fetch(url)).text()).toContain('<p id="paused">Paused: &lt;i&gt;, orders. ');
    await world.store.resume("<i>");
    await world.store.resume("orders");
    await world.clock.step(2_000);
    expect(await (await fetch(url)).text()).not.toContain("Paused");
    await end();
  });

  it.each(["", "?token=", "?token=AAAAAAAAAAAAAAAAAAAAAA", "?TOKEN=own"])(
    "shows a request with %j no text of a receiver or of the database, on any path",
    async (search) => {
      const world = new CommandWorld();
      await world.die([message(1)], "HTTP 500 s3cret");
      const { url, end } = await serve(world);
      world.store.backlog = () => Promise.reject(new Error("s3cret"));
      await world.clock.step(2_000);
      const read = async (path: string, query: string, headers = {}): Promise<string> => {
        const response = await fetch(`${url.origin}/${path}${query}`, { headers });
        const { value = "" } = await (response.body as ReadableStream<Uint8Array>)
          .pipeThrough(new TextDecoderStream())
          .getReader()
          .read();
        return value;
      };
      const others = search.replace("own", url.searchParams.get("token") ?? "");
      for (const path of ["", "view", "state", "events"]) {
        expect([path, await read(path, others)]).toEqual([path, expect.stringContaining("order")]);
        expect([path, await read(path, others)]).toEqual([path, expect.not.stringContaining("s3")]);
        expect([path, await read(path, url.search)]).toEqual([
          path,
          expect.stringMatching(/s3cret.*s3cret/s),
        ]);
        const authorization = `Bearer ${url.searchParams.get("token")}`;
        expect(await read(path, "", { authorization })).toContain("s3cret");
      }
      await end();
    },
  );

  it("shows each topic of the last hour, and replays one by the token in the header alone", async () => {
    const world = new CommandWorld();
    const ids = Array.from({ length: 250 }, (_, i) => message(i + 1));
    await world.die([...ids, message(251, { topic: "<b>&" }), message(252, { topic: "<b>&" })]);
    await world.store.transaction((tx) => world.store.save(tx, message(253), world.clock.now()));
    const { url, at, state, end } = await serve(world);
    const html = await (await fetch(url)).text();
    expect(html).toContain("<h3>&lt;b&gt;&amp;</h3>");
    expect(html).toContain('data-post="/replay?topic=%3Cb%3E%26"');
    const own = { authorization: `Bearer ${url.searchParams.get("token")}` };
    const ask = async (method: string, headers = {}, path = "replay?topic=orders") => {
      const reply = await fetch(new URL(`/${path}`, url), { method, headers });
      return [reply.status, (await reply.text()).trim()];
    };
    const stranger = await (await fetch(url.origin)).text();
    expect(stranger).toContain("<h3>orders</h3>");
    expect(stranger).not.toContain("data-post");
    expect(await ask("GET", own)).toEqual([405, "Use POST."]);
    for (const headers of [{}, { authorization: "Bearer AAAAAAAAAAAAAAAAAAAAAA" }])
      expect(await ask("POST", headers)).toEqual([403, expect.any(String)]);
    expect(
      await ask("POST", {}, `replay?topic=orders&token=${url.searchParams.get("token")}`),
    ).toEqual([403, expect.any(String)]);
    expect(await state()).toMatchObject({ status: { dead: 252 } });

    const held = deferred<void>();
    const replay = world.store.replay.bind(world.store);
    const sizes: number[] = [];
    world.store.replay = async (...args) => {
      sizes.push(await replay(...args));
      if (sizes.length === 2) await held.promise;
      return sizes.at(-1) ?? 0;
    };
    expect(await ask("POST", own)).toEqual([202, "Replaying."]);
    await expect.poll(() => sizes).toHaveLength(2);
    expect(await state()).toMatchObject({ replay: { topic: "orders", count: 100, isOver: false } });
    expect(await ask("POST", own, "replay")).toEqual([409, "A replay is under way."]);
    expect(await (await fetch(url)).text()).toMatch(
      /<button [^>]*aria-label="Replay all dead letters" disabled>/,
    );
    held.resolve();
    await expect.poll(state).toMatchObject({ replay: { count: 250, isOver: true } });
    await world.clock.step(2_000);
    expect(await (await fetch(at(""))).text()).toContain(">Replayed 250 of orders.</p>");
    expect(await state()).toMatchObject({ status: { dead: 2, pending: 251 } });
    await end();
  });

  it("shows why a replay has stopped, to its user alone, and stops it between portions at its end", async () => {
    const world = new CommandWorld();
    await world.die(Array.from({ length: 201 }, (_, i) => message(i + 1)));
    const { url, end } = await serve(world);
    const headers = { authorization: `Bearer ${url.searchParams.get("token")}` };
    const { replay } = world.store;
    world.store.replay = () => Promise.reject(new Error("permission denied s3cret"));
    const ask = () => fetch(new URL("/replay", url), { method: "POST", headers });
    await ask();
    const stopped = ">Replayed 0, then stopped: permission denied s3cret</p>";
    await expect.poll(async () => await (await fetch(url)).text()).toContain(stopped);
    expect(await (await fetch(url.origin)).text()).not.toContain("s3cret");
    const held = deferred<void>();
    world.store.replay = async (...args) => {
      await held.promise;
      return await replay.apply(world.store, args);
    };
    await ask();
    const ended = end();
    held.resolve();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect((await world.store.backlog()).dead).toBe(101);
    expect([world.clock.waiters(), world.open]).toEqual([0, 0]);
  });

  it("tells that no notification arrives, while that is so", async () => {
    const world = new CommandWorld();
    const listens: (() => void)[] = [];
    let listenings = 0;
    world.store.listen = async (onNotify, signal) => {
      if (++listenings === 1) throw new Error("LISTEN hears nothing");
      listens.push(onNotify);
      await world.clock.sleep(60_000, { signal });
      throw new Error("connection lost");
    };
    const { url, end } = await serve(world);
    const tells = async () => (await (await fetch(url)).text()).includes('<p id="polls">');
    expect(await tells()).toBe(true);
    await world.clock.step(30_000);
    listens[0]?.();
    expect(await tells()).toBe(false);
    await world.clock.step(60_000);
    expect(await tells()).toBe(true);
    await end();
    expect(world.clock.waiters()).toBe(0);
  });

  it("prints its address as JSON", async () => {
    const { printed, end } = await serve(new CommandWorld(), ["--json"]);
    expect(printed).toMatch(/^\{"url":"http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{22}"\}$/);
    await end();
  });

  it("shows why the database cannot be read, and goes on", async () => {
    const world = new CommandWorld();
    const { backlog } = world.store;
    const { url, state, end } = await serve(world);
    world.store.backlog = () => Promise.reject(new Error("connection refused"));
    await world.clock.step(2_000);
    const html = await (await fetch(url)).text();
    expect(html).toContain(">The database cannot be read: connection refused</p>");
    world.store.backlog = backlog;
    await world.clock.step(2_000);
    expect(await state()).not.toHaveProperty("problem");
    await end();
  });

  it("stops on abort with code 0, and leaves no port, no timer and no connection", async () => {
    const world = new CommandWorld();
    const { url, at, end } = await serve(world);
    const events = await fetch(at("view"));
    expect(await end()).toMatchObject({ code: 0, stderr: "" });
    await events.text();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect([world.clock.waiters(), world.open]).toEqual([0, 0]);
  });

  it("does not start if the outbox cannot be read", async () => {
    const world = new CommandWorld();
    const code = "42P01";
    world.store.backlog = () => Promise.reject(Object.assign(new Error("none"), { code }));
    const { code: exit, stderr } = await world.run(["page"]);
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining("run npx @holdfast/outbox migrate"),
    ]);
    expect(world.open).toBe(0);
  });
});
