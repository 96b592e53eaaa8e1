import { parseArgs } from "node:util";
import { type Output, optional, requirePositionals, textOf } from "@holdfast/kit/node";
import { fromCrd } from "../object/custom-resource.ts";
import { runKubectl } from "../transport/run-kubectl.ts";
import { type CrdSchema, plainSchema } from "./plain-schema.ts";

const HEADER = `// Made by "npx @holdfast/kubernetes types": run it again instead of editing this file.
import { customResource, type KubeObject } from "@holdfast/kubernetes";
`;

/** `types FILE...` and `types --from-cluster NAME...` */
export async function types(args: string[], { print }: Output): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      "from-cluster": { type: "boolean", default: false },
      version: { type: "string" },
    },
  });
  requirePositionals(values["from-cluster"] ? "NAME" : "FILE", positionals);
  const crds = await (values["from-cluster"] ? fromCluster(positionals) : fromFiles(positionals));
  const resources = crds.map((crd) => fromCrd(crd, values.version));
  const twice = resources.find(({ kind }, index) =>
    resources.slice(0, index).some((other) => identifierOf(other.kind) === identifierOf(kind)),
  );
  if (twice !== undefined)
    throw new Error(`two CRDs have the kind ${twice.kind}: write their types to two files`);
  const parts: string[] = [HEADER];
  for (const resource of resources) parts.push(await source(resource));
  print(parts.join("\n"));
  return 0;
}

async function fromFiles(files: readonly string[]): Promise<object[]> {
  const { parseAllDocuments } = await optional("yaml", import("yaml"), "--save-dev ");
  return files.flatMap((file) => {
    const text = textOf(file, { pipes: true });
    const documents = [...parseAllDocuments(text)];
    const [problem] = documents.flatMap(({ errors }) => errors);
    // Its message shows the place below a first line that ends with a colon.
    if (problem !== undefined) throw new Error(`${file}: ${problem.message.split(/:?\n/)[0]}`);
    const crds = documents.flatMap((document) => crdsIn(document.toJS()));
    if (crds.length === 0) throw new Error(`${file} has no CustomResourceDefinition`);
    return crds;
  });
}

/** The definitions in a document, which may be a list, as kubectl prints them. */
function crdsIn(document: Manifest | null | undefined): object[] {
  const all = document?.items ?? [document];
  return all.filter((one) => one?.kind === "CustomResourceDefinition") as object[];
}

interface Manifest {
  readonly kind?: unknown;
  readonly items?: readonly Manifest[];
}

/** Through kubectl, which knows every way to log in. */
async function fromCluster(names: readonly string[]): Promise<object[]> {
  const what = "customresourcedefinitions.v1.apiextensions.k8s.io";
  // After "--" a name is no option.
  const text = await runKubectl("kubectl", ["get", what, "-o", "json", "--", ...names]);
  return crdsIn(JSON.parse(text) as Manifest);
}

/** An interface and a resource. */
async function source({
  crd,
  apiVersion,
  version,
  kind,
  plural,
  scope,
}: ReturnType<typeof fromCrd>): Promise<string> {
  const { compile } = await optional(
    "json-schema-to-typescript",
    import("json-schema-to-typescript"),
    "--save-dev ",
  );
  const { versions } = (crd as CrdWithSchemas).spec;
  const { openAPIV3Schema: { properties, ...rest } = {} } =
    versions.find(({ name }) => name === version)?.schema ?? {};
  const { apiVersion: _, kind: __, metadata: ___, ...own } = properties ?? {};
  // The server writes a status, and a new object has none.
  const required = rest.required?.filter((name) => name !== "status");
  const schema = plainSchema({ ...rest, type: "object", properties: own, required });
  const identifier = identifierOf(kind);
  const name = `${identifier}Object`;
  // A definition names no file and no host.
  const $refOptions = { resolve: { external: false, file: false, http: false } };
  const text = await compile(schema, "Generated", { bannerComment: "", $refOptions });
  const start = "export interface Generated {";
  if (!text.includes(start)) throw new Error(`no interface could be made of ${kind}`);
  return `${text.replace(start, `export interface ${name} extends KubeObject {`)}
export const ${identifier} = customResource<${name}>({
  apiVersion: "${apiVersion}",
  kind: "${kind}",
  plural: "${plural}",
  scope: "${scope}",
});
`;
}

/** A kind as a name in TypeScript: `foo-bar` is `FooBar`. */
function identifierOf(kind: string): string {
  const name = kind.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
  // The name of the imported type.
  return name === "Kube" ? "KubeKind" : name;
}

interface CrdWithSchemas {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema?: { readonly openAPIV3Schema?: CrdSchema };
    }[];
  };
}
