import type { Phase } from "../core/phase.ts";
import type { Tone } from "./line.ts";

type Paint = (text: string) => string;

/** Colours by meaning. */
export interface Palette {
  readonly tone: Readonly<Record<Tone, Paint>>;
  readonly phase: Readonly<Record<Phase, Paint>>;
  readonly bold: Paint;
  readonly dim: Paint;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

/** @param enabled - if false, nothing is painted */
export function createPalette(enabled: boolean): Palette {
  const plain: Paint = (text) => text;
  const paint = (name: keyof typeof CODES): Paint => {
    if (!enabled) return plain;
    const end = CODES[name] < 30 ? 22 : 39;
    return (text) => `\u001b[${CODES[name]}m${text}\u001b[${end}m`;
  };
  return {
    tone: { good: paint("green"), warning: paint("yellow"), bad: paint("red"), plain },
    phase: {
      Pending: paint("dim"),
      Running: paint("green"),
      Terminating: paint("blue"),
      CrashLoopBackOff: paint("yellow"),
      Completed: paint("cyan"),
      Failed: paint("red"),
      Stopped: paint("dim"),
    },
    bold: paint("bold"),
    dim: paint("dim"),
  };
}
