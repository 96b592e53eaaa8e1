import { describe, expect, it } from "vitest";
import { proxiesOf } from "../src/proxy.ts";

const PROXY = "http://proxy:3128/";

/** The proxy of a URL with these variables. */
function proxyOf(url: string, env: NodeJS.ProcessEnv): string | undefined {
  return proxiesOf(env)(new URL(url))?.href;
}

describe("NO_PROXY", () => {
  interface Case {
    readonly exceptions: string;
    readonly direct: readonly string[];
    readonly proxied: readonly string[];
  }

  it.each<Case>([
    { exceptions: "", direct: [], proxied: ["http://a.test/", "http://localhost/"] },
    { exceptions: "*", direct: ["http://a.test/", "https://[::1]/"], proxied: [] },
    {
      exceptions: "a.test",
      direct: ["http://a.test/", "https://b.a.test/", "http://A.TEST:81/", "http://a.test./"],
      proxied: ["http://ba.test/", "http://a.test.b/", "http://test/"],
    },
    {
      exceptions: " .A.test , ,*.b.test\tc.test. ",
      direct: ["http://a.test/", "http://x.a.test/", "http://x.b.test/", "http://c.test/"],
      proxied: ["http://d.test/"],
    },
    {
      exceptions: "a.test:81,b.test:443",
      direct: ["http://a.test:81/", "https://b.test/"],
      proxied: ["http://a.test/", "http://b.test/", "http://a.test:8/", "http://a.test:811/"],
    },
    {
      exceptions: "127.0.0.1,::1,[fe80::1]:81",
      direct: ["http://127.0.0.1/", "http://[::1]/", "http://[0:0::1]:9/", "http://[fe80::1]:81/"],
      proxied: ["http://127.0.0.2/", "http://[::2]/", "http://[fe80::1]/", "http://localhost/"],
    },
    {
      exceptions: "10.0.0.0/8,fd00::/8,1.2.3.4/33,1.2.3.4/x",
      direct: ["http://10.255.0.1/", "http://[fd12::1]/"],
      proxied: ["http://11.0.0.1/", "http://[fe00::1]/", "http://1.2.3.4/", "http://10.0.0.test/"],
    },
    // An address is no name: what ends alike is another one.
    { exceptions: "0.0.1", direct: [], proxied: ["http://127.0.0.1/"] },
  ])("$exceptions", ({ exceptions, direct, proxied }) => {
    const env = { http_proxy: PROXY, HTTPS_PROXY: PROXY, NO_PROXY: exceptions };
    const all = [...direct, ...proxied].map((url) => [url, proxyOf(url, env)]);
    expect(all).toEqual([
      ...direct.map((url) => [url, undefined]),
      ...proxied.map((url) => [url, PROXY]),
    ]);
  });
});

describe("a proxy", () => {
  it("is that of the scheme, and the small letters go first", () => {
    const env = { http_proxy: "http://a", HTTP_PROXY: "http://b", HTTPS_PROXY: "https://c:9" };
    expect(["http://x/", "https://x/"].map((url) => proxyOf(url, env))).toEqual([
      "http://a/",
      "https://c:9/",
    ]);
    expect(proxyOf("http://x/", { HTTPS_PROXY: PROXY, http_proxy: "" })).toBeUndefined();
  });

  it.each(["proxy:3128", "PROXY:3128/", "http://proxy:3128"])("is http by default: %s", (value) => {
    expect(proxyOf("http://x/", { HTTP_PROXY: value })).toBe(PROXY);
  });

  it.each([
    "socks5://u:secret@p:1",
    "http://",
    "ftp://secret",
    "http://u:secret@[x/",
    "http://p:secret",
  ])("is refused without being shown: %s", (value) => {
    for (const name of ["HTTP_PROXY", "https_proxy"])
      expect(() => proxiesOf({ [name]: value })).toThrow(
        `${name.toUpperCase()} is no proxy; expected HOST:PORT, http://HOST:PORT or https://HOST:PORT.`,
      );
  });
});
