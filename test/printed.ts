import type { Output } from "@holdfast/kit/node";

/** What a run of a command line has written, and its exit code. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process. */
export async function printedBy(run: (output: Output) => Promise<number>): Promise<Run> {
  let [stdout, stderr] = ["", ""];
  const code = await run({
    print: (text) => {
      stdout += text;
    },
    note: (line) => {
      stderr += `${line}\n`;
    },
  });
  return { code, stdout, stderr };
}
