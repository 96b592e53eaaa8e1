import { describe, expect, it } from "vitest";
import { decideLease, type LeaseDecision } from "../../src/election/lease-decision.ts";

interface Case {
  readonly name: string;
  /** Undefined if there never was a record. */
  readonly holder: string | undefined;
  readonly transitions?: number;
  /** Since the record was first seen, in milliseconds; its lease lasts 3,000. */
  readonly age?: number;
  readonly token?: number;
  readonly decision: LeaseDecision;
}

const never = undefined;

describe("the decision of baz for a record", () => {
  it.each<Case>([
    { name: "acquires where none ever was", holder: never, decision: "acquire" },
    { name: "acquires at once what nobody holds", holder: "", age: 0, decision: "acquire" },
    { name: "waits for another's lease", holder: "bing", age: 0, decision: "wait" },
    { name: "waits to its last instant", holder: "bing", age: 2_999.999, decision: "wait" },
    { name: "acquires when the lease is over", holder: "bing", age: 3_000, decision: "acquire" },
    {
      name: "acquires its own of another life at once",
      holder: "baz",
      age: 0,
      decision: "acquire",
    },
    { name: "renews its own", holder: "baz", token: 0, decision: "renew" },
    { name: "renews its own, however old", holder: "baz", token: 0, age: 1e9, decision: "renew" },
    { name: "renews where the record is gone", holder: never, token: 0, decision: "renew" },
    { name: "steps down before another", holder: "bing", token: 0, decision: "stepDown" },
    {
      name: "steps down before one whose lease is over",
      holder: "bing",
      token: 0,
      age: 1e9,
      decision: "stepDown",
    },
    { name: "steps down where nobody holds it", holder: "", token: 0, decision: "stepDown" },
    {
      name: "steps down when it sees another process with its identity",
      holder: "baz",
      transitions: 1,
      token: 0,
      decision: "stepDown",
    },
  ])("$name", ({ holder, transitions = 0, age = 0, token, decision }) => {
    const record = { leaseDuration: 3_000, acquiredAt: 9e15, renewedAt: -9e15, transitions };
    const observed =
      holder === undefined ? undefined : { record: { ...record, holder }, seenAt: 500 };
    expect(decideLease({ identity: "baz", token, observed, now: 500 + age })).toBe(decision);
  });
});
