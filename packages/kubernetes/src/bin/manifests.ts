import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { requireNamespace, requireSegment } from "@holdfast/kit/kubernetes";
import { type Output, optional, requirePositionals, textOf } from "@holdfast/kit/node";
import { fromCrd } from "../object/custom-resource.ts";
import type { Webhook } from "../webhook/webhook.ts";
import {
  addressed,
  isConverted,
  type WebhookManifestsOptions,
  webhookManifests,
} from "../webhook/webhook-manifests.ts";
import { requireService } from "../webhook/webhooks-options.ts";

/** `manifests MODULE... --out DIR [--service NAME --namespace NS [--certificate NAME]] [--check]` */
export async function manifests(args: string[], { print }: Output): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: "string" },
      service: { type: "string" },
      namespace: { type: "string" },
      certificate: { type: "string" },
      check: { type: "boolean", default: false },
    },
  });
  const { out, check } = values;
  requirePositionals("MODULE", positionals);
  if (out === undefined) throw new RangeError("--out DIR is missing; see --help");
  const { stringify } = await optional("yaml", import("yaml"), "--save-dev ");
  const place = placeOf(values);
  const objects = await objectsOf(positionals, place);
  const files = [...objects].map(([name, crd]) => ({
    path: join(out, `${name}.yaml`),
    text: stringify(crd, { aliasDuplicateObjects: false }),
  }));
  if (check) return compared(files, print);
  await mkdir(out, { recursive: true });
  for (const { path, text } of files) await writeFile(path, text);
  print(files.map(({ path }) => `${path}\n`).join(""));
  return 0;
}

interface File {
  readonly path: string;
  readonly text: string;
}

function compared(files: readonly File[], print: Output["print"]): 0 | 1 {
  const problems: string[] = [];
  for (const { path, text } of files) {
    const found = existsSync(path) ? textOf(path, { pipes: false }) : undefined;
    if (found === undefined) problems.push(`${path} is missing`);
    else if (found !== text) problems.push(`${path} differs from its resource`);
  }
  print(problems.map((line) => `${line}\n`).join(""));
  return problems.length > 0 ? 1 : 0;
}

/** The place of the webhooks. */
type Place = Pick<WebhookManifestsOptions, "service" | "namespace" | "certificate">;

function placeOf(given: {
  readonly service?: string | undefined;
  readonly namespace?: string | undefined;
  readonly certificate?: string | undefined;
}): Place | undefined {
  const { service, namespace, certificate } = given;
  if (service === undefined && namespace === undefined && certificate === undefined)
    return undefined;
  if (service === undefined || namespace === undefined)
    throw new RangeError(
      `--${service === undefined ? "service" : "namespace"} is missing; see --help`,
    );
  requireService("--service", service);
  requireNamespace("--namespace", namespace);
  if (certificate !== undefined) requireSegment("--certificate", certificate);
  return { service, namespace, certificate };
}

/** The objects of what modules export, by the names of their files: that of a CRD is PLURAL.GROUP. */
async function objectsOf(
  modules: readonly string[],
  place: Place | undefined,
): Promise<Map<string, object>> {
  const crds = new Map<string, object>();
  const hooks = new Map<string, Webhook>();
  for (const module of modules) {
    const exported = Object.values(await load(module));
    const defined = exported.flatMap(crdOf);
    const asked = exported.filter(isHook);
    if (defined.length + asked.length === 0)
      throw new Error(`${module} exports no resource with a CRD, and no webhook`);
    for (const crd of defined) addCrd(crds, crd, module);
    for (const hook of asked) addHook(hooks, hook, module);
  }
  const converted = [...crds].filter(([, crd]) => isConverted(crd)).map(([name]) => name);
  if (place === undefined) {
    if (hooks.size === 0) return crds;
    throw new RangeError("--service is missing: the modules export webhooks; see --help");
  }
  for (const name of converted) crds.set(name, addressed(crds.get(name) ?? {}, place));
  const options = { ...place, hooks: [...hooks.values()], converted };
  return new Map([...crds, ...webhookManifests(options)]);
}

function addCrd(crds: Map<string, object>, crd: object, module: string): void {
  const { plural, group } = fromCrd(crd);
  const name = `${plural}.${group}`;
  if (crds.has(name) && !isDeepStrictEqual(crds.get(name), crd))
    throw new Error(`${module} exports a second CRD ${name} that differs`);
  crds.set(name, crd);
}

function addHook(hooks: Map<string, Webhook>, hook: Webhook, module: string): void {
  const { name } = hook.configuration;
  if (hooks.has(name) && hooks.get(name) !== hook)
    throw new Error(`${module} exports a second webhook ${name}: set its option name`);
  hooks.set(name, hook);
}

function isHook(exported: unknown): exported is Webhook {
  const { configuration, review } = (exported ?? {}) as Partial<Webhook>;
  return typeof configuration?.name === "string" && typeof review === "function";
}

async function load(module: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    return await import(pathToFileURL(resolve(module)).href);
  } catch (error) {
    throw new Error(
      `${module} cannot be imported: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function crdOf(exported: unknown): object[] {
  const crd = (exported as { crd?: { kind?: unknown } } | null | undefined)?.crd;
  return crd?.kind === "CustomResourceDefinition" ? [crd] : [];
}
