import type { Random } from "@holdfast/wait";

// As k8s.io/apimachinery/pkg/util/rand: no vowels and nothing that looks like another letter.
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Longest prefix of a generated name. */
const MAX_PREFIX = 58;

/** A name with a prefix and five random letters. */
export function madeName(prefix: string, random: Random): string {
  const letters = Array.from({ length: 5 }, () => LETTERS[Math.floor(random() * LETTERS.length)]);
  return prefix.slice(0, MAX_PREFIX) + letters.join("");
}

/** A UUID of version 4. */
export function madeUid(random: Random): string {
  const digits = (count: number): string =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}
