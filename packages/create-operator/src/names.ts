/** The names in a project, which its templates ask for as `__NAME__`, `__KIND__` and so on. */
export interface Names {
  readonly name: string;
  readonly kind: string;

  /** The kind in lower case. */
  readonly singular: string;
  readonly plural: string;
  readonly group: string;
}

const NAME = /^[a-z]([-a-z0-9]{0,51}[a-z0-9])?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,50}$/;
const GROUP = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

/** Words that some parsers of YAML do not take for text. */
const NO_TEXT = /^(y|yes|n|no|on|off|true|false|null)$/;

/** Kinds that a project uses beside its own. */
const TAKEN_KINDS = ["ConfigMap", "Lease"];

/** @throws RangeError that names the argument */
export function resolveNames(
  name: string,
  options: { readonly kind?: string | undefined; readonly group?: string | undefined },
): Names {
  const { kind = kindOf(name), group = "example.org" } = options;
  if (!NAME.test(name) || NO_TEXT.test(name))
    refuse("NAME", "a name such as backup-operator", name);
  const singular = kind.toLowerCase();
  if (!KIND.test(kind) || NO_TEXT.test(singular)) refuseKind(name, options.kind);
  if (TAKEN_KINDS.includes(kind)) refuse("--kind", `none of ${TAKEN_KINDS.join(", ")}`, kind);
  if (group.length > 150 || !GROUP.test(group))
    refuse("--group", "a group such as example.org", group);
  return { name, kind, singular, plural: pluralOf(singular), group };
}

/** `cron-task-operator` is for CronTasks. */
function kindOf(name: string): string {
  return name
    .replace(/-operator$/, "")
    .split("-")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}

function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** A kind that NAME makes is no option of the caller. */
function refuseKind(name: string, kind: string | undefined): never {
  if (kind !== undefined) refuse("--kind", "a kind such as Backup", kind);
  refuse("NAME", "a name that makes a kind such as Backup, or have a --kind beside it", name);
}

function refuse(what: string, allowed: string, value: string): never {
  throw new RangeError(`${what} must be ${allowed}, got ${JSON.stringify(value.slice(0, 300))}`);
}
