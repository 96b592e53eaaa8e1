import type { Random } from "@holdfast/wait";

/** A UUID of version 4. */
export function madeUid(random: Random): string {
  const digits = (count: number): string =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}
