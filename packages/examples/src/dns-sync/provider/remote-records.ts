import { isIPv4, isIPv6 } from "node:net";
import type { Remote } from "../operator/provider.ts";

/** Result of a write: an HTTP status, and the reason for a refusal. */
export interface WriteResult {
  readonly status: 200 | 409 | 412 | 422;
  readonly reason?: string;
}

const NAME = /^(?=.{1,253}$)([a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const LONGEST_TEXT = 255;
const LONGEST_TTL = 86_400;

/** Allowed values by record type. */
const VALUES: Readonly<Record<string, readonly [test: (value: string) => boolean, is: string]>> = {
  A: [isIPv4, "an IPv4 address"],
  AAAA: [isIPv6, "an IPv6 address"],
  CNAME: [(value) => NAME.test(value), "a name"],
  TXT: [(value) => value !== "" && value.length <= LONGEST_TEXT, "1 to 255 characters"],
};

/** The records of a provider, at most one per name and type. */
export class RemoteRecords {
  readonly #records = new Map<string, Remote>();

  get size(): number {
    return this.#records.size;
  }

  list(): readonly Remote[] {
    return [...this.#records.values()];
  }

  of(owner: string): readonly Remote[] {
    return this.list().filter((record) => record.owner === owner);
  }

  put(record: Remote): WriteResult {
    const reason = problemOf(record);
    if (reason !== undefined) return { status: 422, reason };
    const { name, type, owner } = record;
    const there = this.#records.get(keyOf(record));
    if (there !== undefined && there.owner !== owner)
      return { status: 409, reason: `${name} ${type} belongs to another record` };
    this.#records.set(keyOf(record), record);
    return { status: 200 };
  }

  /** Succeeds if the record does not exist. */
  delete(record: Pick<Remote, "name" | "type" | "owner">): WriteResult {
    const there = this.#records.get(keyOf(record));
    if (there !== undefined && there.owner !== record.owner)
      return { status: 409, reason: `${record.name} ${record.type} belongs to another record` };
    this.#records.delete(keyOf(record));
    return { status: 200 };
  }

  /** Changes a record without its owner. */
  overwrite(record: Remote): void {
    this.#records.set(keyOf(record), record);
  }

  /** Removes a record without its owner. */
  drop(record: Remote): void {
    this.#records.delete(keyOf(record));
  }
}

/** Name and type of a record, unique at a provider. */
function keyOf({ name, type }: Pick<Remote, "name" | "type">): string {
  return `${name} ${type}`;
}

/** First reason to refuse a record; undefined if it is valid. */
export function problemOf({ name, type, value, ttl, owner }: Remote): string | undefined {
  const [isValid, allowed] = (Object.hasOwn(VALUES, type) && VALUES[type]) || [];
  if (!NAME.test(name)) return `name must be a DNS name, got ${JSON.stringify(name)}`;
  if (isValid === undefined)
    return `type must be one of ${Object.keys(VALUES).join(", ")}, got ${JSON.stringify(type)}`;
  if (!isValid(value)) return `value must be ${allowed}, got ${JSON.stringify(value)}`;
  if (!/^\d+$/.test(ttl) || Number(ttl) < 1 || Number(ttl) > LONGEST_TTL)
    return `ttl must be 1 to ${LONGEST_TTL} seconds, got ${JSON.stringify(ttl)}`;
  return owner === "" ? "owner must not be empty" : undefined;
}
