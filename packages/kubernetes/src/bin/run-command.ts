import { problemOf } from "@holdfast/controller/internal";
import type { Result } from "./command.ts";
import { manifests } from "./manifests.ts";
import { rules } from "./rules.ts";
import { types } from "./types.ts";

const USAGE = `npx @holdfast/kubernetes COMMAND

  types FILE...                   TypeScript types of the CRDs in files of YAML or JSON
  types --from-cluster NAME...    the same for CRDs of kubectl's cluster, as certificates.cert-manager.io
    --version VERSION             a version that all of them serve; default: the stored one of each

  manifests MODULE... --out DIR   writes the CRDs of the resources that modules export, as DIR/PLURAL.GROUP.yaml
    --check                       writes nothing; exits with 1 if a file differs

  rules FILE...                   prints a ClusterRole for the requests of a test run with HOLDFAST_RULES=FILE,
                                  and a Role for its Leases
    --name NAME                   of the roles; default: operator
    --namespace NAMESPACE         of the operator; rights needed there only are in the Role, too
`;

const COMMANDS = new Map<string | undefined, (args: string[]) => Promise<Result>>([
  ["types", types],
  ["manifests", manifests],
  ["rules", rules],
]);

async function run([name, ...args]: string[]): Promise<Result> {
  if ([name, ...args].some((arg) => arg === "--help" || arg === "-h"))
    return { output: USAGE, code: 0 };
  const command = COMMANDS.get(name);
  if (command !== undefined) return await command(args);
  const names = [...COMMANDS.keys()].join(", ");
  throw new RangeError(`COMMAND must be one of ${names}, got ${name ?? "none"}; see --help`);
}

/** What a run of the command line writes, and the code that its process exits with. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line with these arguments. */
export async function runCommand(args: string[]): Promise<Run> {
  try {
    const { output, code } = await run(args);
    return { code, stdout: output, stderr: "" };
  } catch (error) {
    return { code: 2, stdout: "", stderr: `error: ${problemOf(error)}\n` };
  }
}
