import { atUrl, inCluster } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { certificates } from "../certificates/certificates.ts";
import { expectNoSecret, TOKEN } from "../secrets.ts";

describe("a client certificate is refused", () => {
  const [cert, key] = [certificates.client.cert, certificates.client.key];

  it.each([
    [
      "without its key",
      "https://a",
      { cert },
      "options.cert and options.key must be given together",
    ],
    ["as a key alone", "https://a", { key }, "options.cert and options.key must be given together"],
    ["for plain HTTP", "http://a", { cert, key }, 'options.cert needs an address with "https:"'],
  ])("%s", (_, url, options, message) => {
    expect(() => atUrl(url, options)).toThrow(message);
  });
});

it("a bad fact about an impersonated user is refused by its name", () => {
  const extra = { scopes: ["a", "b\n"] };
  expect(() => atUrl("http://a", { impersonate: { user: "ann", extra } })).toThrow(
    'options.impersonate.extra["scopes"][1] must be printable ASCII, got "b\\n"',
  );
});

describe("the address of a server", () => {
  it.each([
    [5, "TypeError: url must be an address such as", "got number"],
    ["", "RangeError: url must be an address such as", "got text that is not a URL"],
    ["127.0.0.1:6443", "RangeError: url must be an address such as", "got text that is not a URL"],
    ["ftp://a", "RangeError: url must be an address such as", 'got the protocol "ftp:"'],
    [
      `https://ann:${TOKEN}@a`,
      "RangeError: url must not contain a user or a password",
      "for a: pass a token",
    ],
    [
      `https://a/?token=${TOKEN}`,
      "RangeError: url must not contain a query or a fragment",
      "for a",
    ],
    [`https://a/#${TOKEN}`, "RangeError: url must not contain a query or a fragment", "for a"],
  ])("such as %j is refused, without its secrets", (url, start, end) => {
    let error: unknown;
    try {
      atUrl(url as string);
    } catch (caught) {
      error = caught;
    }
    expectNoSecret(error);
    expect(String(error).slice(0, start.length)).toBe(start);
    expect(String(error)).toContain(end);
  });

  it("comes from the environment in a pod", () => {
    const env = { KUBERNETES_SERVICE_HOST: "a", KUBERNETES_SERVICE_PORT: "x" };
    expect(() => inCluster({ env })).toThrow(
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be an address",
    );
  });
});
