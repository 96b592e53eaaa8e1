import { inspect } from "node:util";
import { FakeClock } from "@holdfast/clock/testing";
import {
  isUnverifiedError,
  type ReceivedHeaders,
  WebhookVerifier,
  type WebhookVerifierOptions,
} from "@holdfast/outbox/webhook";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keysOf, signedHeaders } from "../../src/webhook/signature.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 500);
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${Buffer.alloc(64, 7).toString("base64")}`;
const clock = new FakeClock({ now: NOW });
const SIGNED_AT = Math.floor(NOW / 1_000);
const bodies = ["", "null", "{}", '{"order":4711,"é":"💡"}', "not JSON", "\ufeff{}\n", "0.5.7"];

/** The headers of a webhook that the reference library signs. */
function signedByOther(body: string, { secret = SECRET, age = 0, id = "4711" } = {}) {
  const at = new Date((SIGNED_AT - age) * 1_000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(at.getTime() / 1_000),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

function signedByUs(body: string, ...secrets: readonly string[]) {
  return signedHeaders({ id: "4711", body }, keysOf("secrets", secrets), NOW);
}

function verifier(options: Partial<WebhookVerifierOptions> = {}): WebhookVerifier {
  return new WebhookVerifier({ secrets: SECRET, clock, ...options });
}

/** The error of a refusal, as its reason and its text. */
function refusal(verify: () => unknown): unknown {
  try {
    return verify();
  } catch (error) {
    expect(error).toSatisfy(isUnverifiedError);
    const text = inspect(error, { depth: 9, showHidden: true });
    for (const secret of [SECRET, OTHER]) expect(text).not.toContain(secret.slice(6, 20));
    const { reason, message } = error as Error & { readonly reason: string };
    return [reason, message.replace("webhook not verified: ", "")];
  }
}

beforeEach(() => {
  vi.spyOn(Date, "now").mockReturnValue(NOW);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("WebhookVerifier beside standardwebhooks", () => {
  it.each(bodies)("verifies the body %j that it has signed, as text and as bytes", (body) => {
    const headers = signedByOther(body);
    const verified = { id: "4711", timestamp: SIGNED_AT * 1_000 };
    expect(verifier().verify(body, headers)).toEqual(verified);
    expect(verifier().verify(Buffer.from(body), headers)).toEqual(verified);
    expect(verifier().verify(new TextEncoder().encode(body), headers)).toEqual(verified);
  });

  it.each(["null", "{}", '{"order":4711,"é":"💡"}', "0.5"])(
    "signs the body %j as it does",
    (body) => {
      expect(signedByUs(body, SECRET)).toEqual(signedByOther(body));
      const payload = JSON.parse(body);
      expect(new Webhook(SECRET).verify(body, signedByUs(body, SECRET))).toEqual(payload);
      expect(new Webhook(OTHER).verify(body, signedByUs(body, SECRET, OTHER))).toEqual(payload);
    },
  );

  it.each([
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
  ])("judges an age of %i s as it does", (age, isInTime) => {
    const headers = signedByOther("{}", { age });
    const outcomes = [
      () => new Webhook(SECRET).verify("{}", headers),
      () => verifier().verify("{}", headers),
    ];
    for (const outcome of outcomes)
      if (isInTime) outcome();
      else expect(outcome).toThrow();
  });
});

describe("WebhookVerifier", () => {
  it("verifies what one of its secrets has signed, beside other signatures and schemes", () => {
    const rotating = verifier({ secrets: [OTHER, SECRET] });
    for (const secret of [SECRET, OTHER])
      expect(rotating.verify("", signedByOther("", { secret })).id).toBe("4711");
    const own = signedByUs("", OTHER, SECRET);
    expect(verifier().verify("", own).id).toBe("4711");
    const signature = `v1a,AAAA v1,AAAA v1 x ${own["webhook-signature"]} v2,AAAA`;
    expect(verifier().verify("", { ...own, "webhook-signature": signature }).id).toBe("4711");
  });

  it.each<[string, (own: Record<string, string>) => ReceivedHeaders]>([
    ["an instance of Headers", (own) => new Headers(own)],
    ["a Map", (own) => new Map(Object.entries(own))],
    [
      "names in upper case",
      (own) =>
        Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    [
      "lists of one value",
      (own) => Object.fromEntries(Object.entries(own).map(([name, value]) => [name, [value]])),
    ],
  ])("reads the headers from %s", (_, form) => {
    expect(verifier().verify("{}", form(signedByOther("{}"))).id).toBe("4711");
  });

  const good = signedByOther("{}");
  const { "webhook-signature": signature } = good;
  const missing = (name: string): unknown => [
    "headers",
    `it has no header ${name}; let the sender sign it as Standard Webhooks has it, and proxies pass the header on`,
  ];
  const noFit = [
    "signature",
    "none of its signatures fits the body and a secret of 1; compare the secrets of both sides, and pass the body as it came",
  ];
  it.each<[string, Record<string, unknown>, unknown]>([
    ["no id", { "webhook-id": undefined }, missing("webhook-id")],
    ["an empty id", { "webhook-id": "" }, missing("webhook-id")],
    ["no time", { "webhook-timestamp": undefined }, missing("webhook-timestamp")],
    ["no signature", { "webhook-signature": [] }, missing("webhook-signature")],
    [
      "two ids",
      { "webhook-id": ["4711", "4712"] },
      ["headers", "it has several headers webhook-id"],
    ],
    [
      "an id with a dot",
      { "webhook-id": "47.11" },
      ["headers", "webhook-id must not contain a dot"],
    ],
    ...["soon", "-1", "1e9", "1795262400.5", " 1795262400", "9".repeat(13)].map(
      (time): [string, Record<string, unknown>, unknown] => [
        `the time ${time}`,
        { "webhook-timestamp": time },
        ["headers", "webhook-timestamp must be seconds since 1970"],
      ],
    ),
    ["another id", { "webhook-id": "4712" }, noFit],
    ["another time", { "webhook-timestamp": String(SIGNED_AT - 1) }, noFit],
    [
      "a signature of another version",
      { "webhook-signature": signature.replace("v1", "v2") },
      noFit,
    ],
    ["half a signature", { "webhook-signature": signature.slice(0, 20) }, noFit],
    ["no base64", { "webhook-signature": "v1,!" }, noFit],
    ["another secret", signedByOther("{}", { secret: OTHER }), noFit],
    ["another body", signedByOther("{} "), noFit],
  ])("refuses %s", (_, change, expected) => {
    const headers = { ...good, ...change } as ReceivedHeaders;
    expect(refusal(() => verifier().verify("{}", headers))).toEqual(expected);
  });

  it("refuses a body that follows the time of another id", () => {
    // id "a", time "1" and body "2.x" are signed as the id "a.1", time "2" and body "x" would be.
    const at = String(SIGNED_AT);
    const headers = { ...signedByOther(`${at}.{}`, { id: "a" }), "webhook-id": `a.${at}` };
    expect(refusal(() => verifier().verify("{}", headers))).toEqual([
      "headers",
      "webhook-id must not contain a dot",
    ]);
  });

  it("refuses a time outside its tolerance, to the second", () => {
    const five = verifier({ tolerance: 5_999 });
    for (const age of [5, -5]) five.verify("{}", signedByOther("{}", { age }));
    const rest =
      "and options.tolerance is 5.999 s; set the clocks of both machines, and sign each attempt anew";
    for (const [age, text] of [
      [6, "6 s ago"],
      [-6, "6 s in the future"],
    ] as const) {
      const headers = signedByOther("{}", { age });
      const expected = ["time", `it was signed ${text}, ${rest}`];
      expect(refusal(() => five.verify("{}", headers))).toEqual(expected);
    }
    const any = verifier({ tolerance: Number.POSITIVE_INFINITY });
    expect(any.verify("{}", signedByOther("{}", { age: SIGNED_AT })).timestamp).toBe(0);
  });

  it("refuses a body that was parsed, as a mistake of the program", () => {
    for (const body of [{ order: 4711 }, undefined, null, 1, new ArrayBuffer(2)])
      expect(() => verifier().verify(body as never, good)).toThrow(
        new TypeError(
          "body must be a Uint8Array or a string: the body as it came, before it is parsed",
        ),
      );
    for (const headers of [undefined, null, "webhook-id: 1"])
      expect(() => verifier().verify("{}", headers as never)).toThrow(/^headers must be an object/);
  });

  it("shows no secret", () => {
    const shown = inspect(verifier(), { depth: 9, showHidden: true });
    expect(shown).not.toContain(SECRET.slice(6, 20));
    expect(JSON.stringify(verifier())).toBe("{}");
  });

  const base64 = (length: number): string => Buffer.alloc(length, 9).toString("base64");
  it.each([
    "",
    "s3cret",
    base64(24),
    "whsec_",
    "whsec_s3cret",
    `whsec_${base64(23)}`,
    `whsec_${base64(65)}`,
    `whsec_${base64(25).replaceAll("=", "")}`,
    `whsec_${base64(24)}\n`,
    `WHSEC_${base64(24)}`,
    `whsec_${base64(24).replace("C", "-")}`,
  ])("refuses the secret %j without repeating it", (secret) => {
    const text = 'must be "whsec_" and the base64 of 24 to 64 random bytes';
    expect(() => verifier({ secrets: secret })).toThrow(new RangeError(`options.secrets ${text}`));
    expect(() => verifier({ secrets: [OTHER, secret] })).toThrow(
      new RangeError(`options.secrets[1] ${text}`),
    );
  });

  it.each([24, 25, 26, 64])("takes a secret of %i bytes", (length) => {
    const secret = `whsec_${base64(length)}`;
    const headers = signedByOther("", { secret });
    expect(verifier({ secrets: secret }).verify("", headers).id).toBe("4711");
  });
});
