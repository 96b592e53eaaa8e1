import { type Command, type Output, runCommands } from "@holdfast/kit/node";
import { manifests } from "./manifests.ts";
import { recording } from "./recording.ts";
import { types } from "./types.ts";

const USAGE = `npx @holdfast/kubernetes COMMAND

  types FILE...                   TypeScript types of the CRDs in files of YAML or JSON
  types --from-cluster NAME...    the same for CRDs of kubectl's cluster, as certificates.cert-manager.io
    --version VERSION             a version that all of them serve; default: the stored one of each

  manifests MODULE... --out DIR   writes the CRDs of the resources that modules export, as DIR/PLURAL.GROUP.yaml
    --service NAME                also what the webhooks that modules export need: configurations, the Service of
                                  pods with the label app=NAME, and roles
    --namespace NAMESPACE         of the Service
    --certificate NAME            a Certificate of cert-manager, and its Secret, in place of the operator's own
    --check                       writes nothing; exits with 1 if a file differs

  recording check FILE            whether a recording, a segment or a directory of them, can be replayed: exits with 1 if not
  recording show FILE             its lines: instant, kind and number of the call, and the start of each text

npx @holdfast/fake-apiserver rules prints the roles that a test run needs.
`;

const COMMANDS = new Map<string | undefined, Command>([
  ["types", types],
  ["manifests", manifests],
  ["recording", recording],
]);

/** Runs the command line with these arguments. */
export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  if (args[0] !== "rules")
    return await runCommands({ usage: USAGE, commands: COMMANDS }, args, output);
  output.note(
    `error: rules is a command of @holdfast/fake-apiserver: npx @holdfast/fake-apiserver ${args.join(" ")}`,
  );
  return 2;
}
