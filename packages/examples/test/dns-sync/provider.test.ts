import { FakeClock } from "@holdfast/clock/testing";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import type { Remote } from "../../src/dns-sync/operator/provider.ts";
import {
  DnsProvider,
  type ProviderResponse,
  QUOTA,
} from "../../src/dns-sync/provider/dns-provider.ts";
import { problemOf, RemoteRecords } from "../../src/dns-sync/provider/remote-records.ts";

const WWW: Remote = {
  name: "www.example.org",
  type: "A",
  value: "192.0.2.1",
  ttl: "60",
  owner: "a",
};

function world() {
  const clock = new FakeClock();
  const provider = new DnsProvider({ clock, random: seededRandom(1) });
  const ask = async (
    method: string,
    record: Partial<Remote>,
    { token = "1" } = {},
  ): Promise<ProviderResponse> => {
    const path = `/records?${new URLSearchParams(record as Record<string, string>)}`;
    return await provider.handle({ method, path, token });
  };
  return { clock, provider, ask };
}

describe("the records of a provider", () => {
  it("belong to their first owner until it deletes them", () => {
    const records = new RemoteRecords();
    expect(records.put(WWW)).toEqual({ status: 200 });
    const taken = { status: 409, reason: "www.example.org A belongs to another record" };
    expect(records.put({ ...WWW, owner: "b" })).toEqual(taken);
    expect(records.delete({ ...WWW, owner: "b" })).toEqual(taken);
    expect(records.of("a")).toEqual([WWW]);
    expect(records.delete(WWW)).toEqual({ status: 200 });
    expect(records.delete(WWW)).toEqual({ status: 200 });
    expect(records.put({ ...WWW, owner: "b" })).toEqual({ status: 200 });
    expect(records.of("a")).toEqual([]);
  });

  it.each<[Partial<Remote>, string | undefined]>([
    [{}, undefined],
    [{ type: "AAAA", value: "2001:db8::1" }, undefined],
    [{ type: "CNAME", value: "web.example.org" }, undefined],
    [{ type: "TXT", value: "any text" }, undefined],
    [{ ttl: "86400" }, undefined],
    [{ name: "-www.example.org" }, 'name must be a DNS name, got "-www.example.org"'],
    [{ name: "www" }, 'name must be a DNS name, got "www"'],
    [{ name: `${"a".repeat(64)}.example.org` }, expect.stringContaining("name must be a DNS name")],
    [{ type: "AAAA" }, 'value must be an IPv6 address, got "192.0.2.1"'],
    [{ type: "CNAME", value: "no name" }, 'value must be a name, got "no name"'],
    [{ type: "TXT", value: "" }, 'value must be 1 to 255 characters, got ""'],
    [{ type: "MX" }, 'type must be one of A, AAAA, CNAME, TXT, got "MX"'],
    [{ type: "constructor" }, expect.stringContaining("type must be one of")],
    [{ ttl: "0" }, 'ttl must be 1 to 86400 seconds, got "0"'],
    [{ ttl: "86401" }, 'ttl must be 1 to 86400 seconds, got "86401"'],
    [{ ttl: "1.5" }, 'ttl must be 1 to 86400 seconds, got "1.5"'],
    [{ owner: "" }, "owner must not be empty"],
  ])("are checked: %j", (change, problem) => {
    expect(problemOf({ ...WWW, ...change })).toEqual(problem);
  });
});

describe("a provider", () => {
  it("answers writes with the records of the owner", async () => {
    const { clock, ask } = world();
    await clock.run(async () => {
      const answer = await ask("PUT", WWW);
      expect(answer).toMatchObject({ status: 200, type: "application/json" });
      expect(JSON.parse(answer.body)).toEqual([WWW]);
      expect((await ask("DELETE", WWW)).body).toBe("[]");
      expect((await ask("PATCH", WWW)).status).toBe(405);
      expect((await ask("PUT", { ...WWW, value: "x" })).status).toBe(422);
    });
  });

  it("refuses a write with a lower token than an earlier request", async () => {
    const { clock, provider, ask } = world();
    await clock.run(async () => {
      expect((await ask("PUT", WWW, { token: "7" })).status).toBe(200);
      // Another record may be in another slot, whose tokens are others.
      expect((await ask("GET", { owner: "b" }, { token: "9" })).status).toBe(200);
      expect((await ask("PUT", WWW, { token: "7" })).status).toBe(200);
      expect((await ask("GET", { owner: "a" }, { token: "8" })).status).toBe(200);
      expect(await ask("PUT", WWW, { token: "7" })).toMatchObject({
        status: 412,
        body: "token 7 is older than 8",
      });
      expect((await ask("GET", { owner: "a" }, { token: "7" })).status).toBe(200);
      expect((await ask("PUT", WWW, { token: "8" })).status).toBe(200);
      expect(provider.refused).toBe(1);
    });
  });

  it("refuses a write overtaken by a request with a higher token", async () => {
    const { clock, provider, ask } = world();
    await clock.run(async () => {
      const late = ask("PUT", WWW, { token: "7" });
      await ask("GET", { owner: "a" }, { token: "8" });
      expect((await late).status).toBe(412);
      expect(provider.records.size).toBe(0);
    });
  });

  it("refuses and counts requests beyond its quota", async () => {
    const { clock, provider, ask } = world();
    await clock.run(async () => {
      for (let index = 0; index < QUOTA.burst; index++)
        expect((await ask("GET", { owner: "a" })).status).toBe(200);
      expect(await ask("GET", { owner: "a" })).toMatchObject({ status: 429, retryAfter: 1 });
      expect(provider.overQuota).toBe(1);
      await clock.sleep(1_000);
      for (let index = 0; index < QUOTA.rate; index++)
        expect((await ask("GET", { owner: "a" })).status).toBe(200);
      expect((await ask("GET", { owner: "a" })).status).toBe(429);
    });
  });

  it.each([
    ["outage", { status: 503 }],
    ["throttle", { status: 429, retryAfter: 1 }],
    ["html", { status: 200, type: "text/html" }],
  ] as const)("applies the fault %s", async (fault, answer) => {
    const { clock, provider, ask } = world();
    await clock.run(async () => {
      provider.fault = fault;
      expect(await ask("PUT", WWW)).toMatchObject(answer);
      expect(provider.records.size).toBe(0);
    });
  });
});
