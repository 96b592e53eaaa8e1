/** Lines about the tool's own work, on stderr: stdout belongs to the command. */
export interface Output {
  /** Always printed. */
  error(line: string): void;
  /** Left out with `--quiet`. */
  info(line: string): void;
  /** Printed with `--verbose` only. */
  detail(line: string): void;
}

/** Which lines to print. */
export interface OutputOptions {
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

/** Makes lines safe for a terminal: what a server answers may contain escape codes, or reorder the line. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const LONGEST_LINE = 500;

/** @param write - writes one line with its end */
function createOutput(
  write: (line: string) => void,
  { quiet = false, verbose = false }: OutputOptions,
): Output {
  const print = (line: string): void => {
    const safe = line.replaceAll(/[\n\t]/g, " ").replaceAll(CONTROL, "\ufffd");
    const short = safe.length > LONGEST_LINE ? `${safe.slice(0, LONGEST_LINE)}…` : safe;
    write(`holdfast: ${short}\n`);
  };
  const nothing = (): void => undefined;
  return { error: print, info: quiet ? nothing : print, detail: verbose ? print : nothing };
}

/** Lines on stderr. Warns at once if this is process 1, which has to reap orphans. */
export function openOutput(options: OutputOptions): Output {
  const output = createOutput((line) => process.stderr.write(line), options);
  if (process.pid === 1) output.error("runs as pid 1: use docker run --init to reap orphans");
  return output;
}
