import { hideIn, Secrets } from "@holdfast/kit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const SECRETS = fc.string({ minLength: 4, maxLength: 40, unit: "grapheme-ascii" }).filter(
  // A word of the texts around, or a scheme, is no secret.
  (text) =>
    /^\S+$/.test(text) &&
    !/hidd|idde|dden/i.test(text) &&
    !/[<>;]/.test(text) &&
    text.replace(/[,;=]/g, "").length >= 4,
);

const percent = (text: string): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
    .join("");
const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");

/** How a server may repeat a text. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "in capitals": (text) => text.toUpperCase(),
  "as JSON": (text) => JSON.stringify({ text }),
  "as JSON in JSON": (text) => JSON.stringify(JSON.stringify({ text })),
  "with the escapes of JSON": (text) =>
    [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  "in a URL": encodeURIComponent,
  "in a URL, small": (text) => encodeURIComponent(text).toLowerCase(),
  "in a URL, each character": percent,
  "in a URL, twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "in HTML": (text) =>
    text.replace(
      /[&<>"']/g,
      (one) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot" }[one] ?? "#39"};`,
    ),
  "in HTML, each character": (text) =>
    [...text].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join(""),
  "in base64": base64,
  "in base64 for URLs": (text) => Buffer.from(text, "latin1").toString("base64url"),
  "in base64, in a URL": (text) => encodeURIComponent(base64(text)),
};

/** A text without its escapes, and in whose base64 one can read. */
const readable = (text: string): string[] => {
  let plain = text;
  for (let depth = 0; depth < 3; depth++)
    plain = plain
      .replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/&#x([\da-f]+);/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll("&amp;", "&")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replace(/\\(["\\/])/g, "$1");
  const inBase64 = (plain.match(/[\w+/-]{4,}/g) ?? []).map((word) =>
    Buffer.from(word, "base64").toString("latin1"),
  );
  return [text, plain, ...inBase64].map((one) => one.toLowerCase());
};

const expectHidden = (text: string, secret: string): void => {
  for (const one of readable(text)) expect(one).not.toContain(secret.toLowerCase());
};

describe("the credentials of a request", () => {
  it.each(Object.entries(FORMS))("leave a text that repeats them %s", (_, form) => {
    fc.assert(
      fc.property(SECRETS, fc.nat(5), fc.nat(5), (secret, before, after) => {
        const url = new URL("https://api.example/");
        const sent: Secrets[] = [
          new Secrets({ headers: [["authorization", `Bearer ${secret}`]] }),
          new Secrets({ headers: [["Authorization", `Basic ${btoa(`ann:${secret}`)}`]] }),
          new Secrets({ headers: [["X-Api-Key", secret]] }),
          new Secrets({ headers: [["cookie", `a=1; session=${secret}`]] }),
          new Secrets({
            url: Object.assign(new URL(url), { password: encodeURIComponent(secret) }),
          }),
          new Secrets({
            url: Object.assign(new URL(url), { search: `?a=1&key=${encodeURIComponent(secret)}` }),
          }),
          new Secrets({
            url: Object.assign(new URL(url), { pathname: `/hooks/${encodeURIComponent(secret)}` }),
          }),
        ];
        const text = `<${form(`${"<".repeat(before)}${secret}${">".repeat(after)}`)}>`;
        for (const secrets of sent) expectHidden(secrets.hide(text), secret);
      }),
    );
  });

  it.each(Object.entries(FORMS))("leave it also if the text ends within one, %s", (_, form) => {
    const secret = "xyzzy:0123456789/plugh";
    const secrets = new Secrets({ headers: [["x-api-key", secret]] });
    const whole = form(secret);
    for (let length = 0; length < whole.length; length++)
      expectHidden(secrets.hide(`<${whole.slice(0, length)}`), secret.slice(0, 6));
  });

  it("leave nothing else out", () => {
    const url = new URL("https://ann:p4ss@api.example/v1/pods?limit=500&key=k3yk3y");
    const headers = [
      ["accept", "application/json"],
      ["user-agent", "holdfast"],
      ["impersonate-user", "jane"],
      ["authorization", "Bearer t0ken"],
    ] as const;
    const secrets = new Secrets({ url, headers });
    const text =
      'jane cannot list "pods" with holdfast: 500 of 5 application/json, Bearer t0ken p4ss, %6b3yk3y at /v1/pods';
    expect(secrets.hide(text)).toBe(
      'jane cannot list "[hidden]" with holdfast: 500 of 5 application/json, [hidden] [hidden], [hidden] at [hidden]',
    );
    expect(new Secrets({}).hide(text)).toBe(text);
    const value = { t0ken: ["a", { b: "t0ken" }], n: 1, nothing: null };
    expect(hideIn(value, (one) => secrets.hide(one))).toEqual({
      "[hidden]": ["a", { b: "[hidden]" }],
      n: 1,
      nothing: null,
    });
  });

  it("are taken out of each of many texts, whichever came before", () => {
    const secrets = new Secrets({ headers: [["authorization", "Bearer sesame-1"]] });
    const texts = [
      "Greeting",
      "sesame-1",
      "sesame-1",
      "Greeting",
      "Greeting",
      "a sesame-1",
      "",
      "sesame-1",
    ];
    expect(texts.map((text) => secrets.hide(text))).toEqual([
      "Greeting",
      "[hidden]",
      "[hidden]",
      "Greeting",
      "Greeting",
      "a [hidden]",
      "",
      "[hidden]",
    ]);
  });

  it("are taken out of a value of any depth, without what is deep in it", () => {
    const secrets = new Secrets({ headers: [["authorization", "Bearer t0ken"]] });
    const hide = (one: string) => secrets.hide(one);
    for (const levels of [1_000, 5_000, 100_000]) {
      const value = JSON.parse(`${"[".repeat(levels)}"t0ken"${"]".repeat(levels)}`);
      const hidden = `${"[".repeat(20)}"[hidden]"${"]".repeat(20)}`;
      expect(JSON.stringify(hideIn(value, hide))).toBe(hidden);
    }
  });
});
