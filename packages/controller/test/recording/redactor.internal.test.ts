import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { heapUsed } from "../../../../test/collect-garbage.ts";
import { Redactor } from "../../src/recording/redactor.ts";

const hash = (algorithm: string, encoding: "hex" | "base64") => (text: string) =>
  createHash(algorithm).update(text).digest(encoding);

/** What programs make of a secret. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => Buffer.from(text).toString("base64"),
  ...["md5", "sha1", "sha256", "sha512"].flatMap((algorithm) => [
    hash(algorithm, "hex"),
    hash(algorithm, "base64"),
  ]),
];

const secret = fc
  .string({ unit: "grapheme", minLength: 8, maxLength: 40 })
  .filter((text) => text.length >= 8 && !"redacted-0123456789abcdef".includes(text));

it("leaves no secret and nothing of a secret in a text", () => {
  const parts = fc.array(fc.oneof(fc.string(), fc.tuple(fc.nat(), fc.nat())), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 6 }), parts, (secrets, drawn) => {
      const redactor = new Redactor();
      for (const one of secrets) redactor.learn(one);
      const text = drawn
        .map((part) => {
          if (typeof part === "string") return part;
          const form = FORMS[part[0] % FORMS.length] as (typeof FORMS)[number];
          return form(secrets[part[1] % secrets.length] as string);
        })
        .join("");
      const kept = redactor.replace(text);
      for (const one of secrets) for (const form of FORMS) expect(kept).not.toContain(form(one));
    }),
  );
});

it("keeps at most 4 KB of the heap for a secret", async () => {
  const SECRETS = 5_000;
  const redactor = new Redactor();
  const before = await heapUsed();
  for (let number = 0; number < SECRETS; number++)
    redactor.learn(hash("sha256", "base64")(`${number}`).slice(0, 40));
  const kept = (await heapUsed()) - before;
  expect(kept / SECRETS).toBeLessThan(4_096);
  expect(redactor.replace("nothing of them")).toBe("nothing of them");
});

it("replaces equal secrets by equal texts, and what is made of them by what is made of these", () => {
  const redactor = new Redactor([(text) => `sum:${text.length}:${text}`]);
  const text = 'pass "word" ü 1';
  const by = redactor.learn(text);
  expect(by).toMatch(/^redacted-[\da-f]{32}$/);
  expect(redactor.learn(text)).toBe(by);
  expect(new Redactor().learn(text)).not.toBe(by);
  for (const form of FORMS) expect(redactor.replace(`(${form(text)})`)).toBe(`(${form(by)})`);
  expect(redactor.replace(`sum:${text.length}:${text}`)).toBe(`sum:${by.length}:${by}`);
});

it("takes the longest of the texts that begin at a place", () => {
  const redactor = new Redactor();
  redactor.learn("password");
  const by = redactor.learn("password-of-the-database");
  expect(redactor.replace("a password-of-the-database.")).toBe(`a ${by}.`);
});

it("leaves texts of fewer than eight characters, and texts without a secret", () => {
  const redactor = new Redactor();
  expect(redactor.replace("any text at all")).toBe("any text at all");
  redactor.learn("short");
  redactor.learn("");
  expect(redactor.replace("a short text of a test")).toBe("a short text of a test");
  expect(redactor.replaceIn({ a: ["short", 5, null] })).toEqual({ a: ["short", 5, null] });
});
