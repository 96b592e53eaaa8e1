/** Differences that are named; a new release may have many. */
const MAX_DIFFERENCES = 10;

/** What two definitions of a custom resource are compared by. */
interface Definition {
  readonly spec: {
    readonly scope?: string;
    readonly versions: readonly DefinedVersion[];
  };
}

interface DefinedVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: object };
  readonly subresources?: object;
}

/** Fields of a schema that change neither what is stored nor what is refused. */
const TEXTS: ReadonlySet<string> = new Set(["description", "example", "title", "externalDocs"]);

/**
 * What differs between the definition of an operator and that of its server, in a line per difference: versions, scope,
 * subresources and schemas. Texts and columns do not count, nor does a version that only the server has.
 */
export function crdDifferences(own: object, served: object): readonly string[] {
  const ours = own as Definition;
  const theirs = served as Definition;
  const { scope = "Namespaced" } = ours.spec;
  const found = [
    ...(scope === theirs.spec.scope
      ? []
      : [`scope: ${scope} here, ${theirs.spec.scope} on the server`]),
    ...ours.spec.versions.flatMap((version) =>
      ofVersion(
        version,
        theirs.spec.versions.find(({ name }) => name === version.name),
      ),
    ),
  ];
  const more = found.length - MAX_DIFFERENCES;
  return more > 0 ? [...found.slice(0, MAX_DIFFERENCES), `and ${more} more`] : found;
}

function ofVersion(ours: DefinedVersion, theirs: DefinedVersion | undefined): string[] {
  const { name } = ours;
  if (theirs === undefined) return [`${name}: the server does not have this version`];
  const flags = (["served", "storage"] as const).flatMap((flag) =>
    ours[flag] === theirs[flag] ? [] : [`${name}: ${flag} is ${theirs[flag]} on the server`],
  );
  const schemas = ofValues(
    { schema: ours.schema?.openAPIV3Schema, subresources: ours.subresources },
    { schema: theirs.schema?.openAPIV3Schema, subresources: theirs.subresources },
    "",
  );
  return [...flags, ...schemas.map((one) => `${name}: ${one}`)];
}

function ofValues(ours: unknown, theirs: unknown, path: string): string[] {
  if (!isRecord(ours) || !isRecord(theirs))
    return JSON.stringify(sorted(ours)) === JSON.stringify(sorted(theirs))
      ? []
      : [`${path} differs`];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].sort().flatMap((name) => {
    // Below `properties` a name is a field of the object, also one that is named as a text of a schema.
    if (TEXTS.has(name) && !path.endsWith(".properties")) return [];
    const at = `${path}.${name}`;
    const [own, served] = [ours[name], theirs[name]];
    if (own === undefined && served === undefined) return [];
    if (served === undefined) return [`${at} is not on the server`];
    if (own === undefined) return [`${at} is only on the server`];
    return ofValues(own, served, at);
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value with the fields of its objects in order, for a comparison as text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  );
}
