/**
 * A UUID of version 4, drawn from `random`. Without it, of the platform's cryptographic source: no other process has it.
 */
export function uuidFrom(random: (() => number) | undefined): string {
  if (random === undefined) return globalThis.crypto.randomUUID();
  const words = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32));
  const digits = words.map((word) => word.toString(16).padStart(8, "0")).join("");
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}
