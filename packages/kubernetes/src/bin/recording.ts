import { parseArgs } from "node:util";
import { type Line, openRecording, type Recording } from "@holdfast/controller/recording";
import { type Output, requirePositionals } from "@holdfast/kit/node";
import { printable } from "../printable.ts";

/** Lines that are no inputs. */
const KINDS: Readonly<Record<string, string>> = {
  gap: "gaps",
  q: "calls",
  l: "calls",
  end: "end",
  R: "reads",
  m: "methods",
  f: "causes",
};

/** Longest line of `show`. */
const MOST = 200;

/** `recording show FILE` and `recording check FILE`, where a file is a segment or a directory */
export async function recording(args: string[], { print }: Output): Promise<0 | 1> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [verb, ...files] = positionals;
  if (verb !== "show" && verb !== "check")
    throw new RangeError(`recording must be followed by show or check, got ${verb ?? "none"}`);
  requirePositionals("FILE", files);
  const found = await openRecording(files[0] as string);
  if (verb === "check") return check(found, print);
  for (const line of found.lines()) print(`${textOf(line)}\n`);
  return 0;
}

/** Reads all of a recording, and says whether it can be replayed. */
function check(found: Recording, print: Output["print"]): 0 | 1 {
  const { name, identity } = found.head;
  const counts = new Map<string, number>();
  let stack: unknown;
  for (const { k, s } of found.lines()) {
    if (k === "f") stack ??= s;
    const kind = KINDS[k] ?? "inputs";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const count = (kind: string): number => counts.get(kind) ?? 0;
  const end = count("end") > 0 ? "the operator stopped" : "the process was killed, or still runs";
  const problem = problemOf(found, counts, stack);
  print(
    `${name} ${identity}: ${found.files.length} segments, ${count("inputs")} inputs, ${count("calls")} calls; ${end}\n`,
  );
  print(
    problem === undefined ? "can be replayed\n" : `cannot be replayed as a whole: ${problem}\n`,
  );
  return problem === undefined ? 0 : 1;
}

/** Why a recording cannot be replayed as a whole. */
function problemOf(
  found: Recording,
  counts: ReadonlyMap<string, number>,
  stack: unknown,
): string | undefined {
  const { segment } = found.head;
  const begin = `it begins with segment ${segment}`;
  if (segment !== 1 && found.known() === undefined) return `${begin}, and has no snapshot`;
  if (segment !== 1) return `${begin}; shadow begins at a snapshot of it`;
  if (counts.has("gaps")) return "it has a gap";
  return counts.has("causes") ? `other code than its inputs caused a call\n${stack}` : undefined;
}

function textOf({ k, n, t, ...rest }: Line): string {
  const parts = Object.values(rest).map((part) =>
    typeof part === "string" ? part : JSON.stringify(part),
  );
  const at = t === undefined ? "" : `${t} ms `;
  return printable(`${at}${k}${n === undefined ? "" : ` ${n}`} ${parts.join(" ")}`.slice(0, MOST));
}
