import { type Run, runCommands } from "@holdfast/kubernetes/internal";
import { rules } from "./rules.ts";

const USAGE = `npx @holdfast/fake-apiserver rules FILE...

  rules FILE...              prints a ClusterRole for the requests of a test run with HOLDFAST_RULES=FILE
    --name NAME              of the role; default: operator
    --namespace NAMESPACE    a Role for the rights needed in this namespace only, a ClusterRole for the others
`;

/** Runs the command line with these arguments. */
export async function runCommand(args: readonly string[]): Promise<Run> {
  return await runCommands(USAGE, new Map([["rules", rules]]), args);
}
