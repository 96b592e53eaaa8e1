import pc from "picocolors";
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

/** @param enabled - if false, nothing is painted; NO_COLOR is looked at by default */
export function createPalette(enabled: boolean = pc.isColorSupported): Palette {
  const { blue, bold, cyan, dim, green, red, yellow } = pc.createColors(enabled);
  const plain: Paint = (text) => text;
  return {
    tone: { good: green, warning: yellow, bad: red, plain },
    phase: {
      Pending: dim,
      Running: green,
      Terminating: blue,
      CrashLoopBackOff: yellow,
      Completed: cyan,
      Failed: red,
      Stopped: dim,
    },
    bold,
    dim,
  };
}
