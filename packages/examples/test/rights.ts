// The roles in a manifest, and each of them without one right.
import { readFileSync } from "node:fs";
import type { FakeApi, PolicyRule, RoleManifest } from "@holdfast/kubernetes/testing";
import { parseAllDocuments } from "yaml";

/** The Roles and ClusterRoles in a file of manifests. */
export function rolesIn(file: URL): RoleManifest[] {
  return parseAllDocuments(readFileSync(file, "utf8"))
    .map((document) => document.toJS() as RoleManifest)
    .filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
}

/** Each right in roles as `verb resource`, with the roles that lack it. */
export function withoutEach(roles: readonly RoleManifest[]): [string, RoleManifest[]][] {
  return roles.flatMap((role) =>
    (role.rules ?? []).flatMap((rule) =>
      rule.verbs.map((verb): [string, RoleManifest[]] => {
        const less = { ...rule, verbs: rule.verbs.filter((one) => one !== verb) };
        const replace = (one: PolicyRule) => (one === rule ? less : one);
        return [
          `${verb} ${qualified(rule)}`,
          roles.map((one) => ({ ...one, rules: (one.rules ?? []).map(replace) })),
        ];
      }),
    ),
  );
}

function qualified({ apiGroups = [], resources = [] }: PolicyRule): string {
  const [group] = apiGroups;
  const [plural = "", subresource] = (resources[0] ?? "").split("/");
  const name = group === "" ? plural : `${plural}.${group}`;
  return subresource === undefined ? name : `${name}/${subresource}`;
}

/** The rights that requests needed and roles lack, as `verb resource`. */
export function rightsLacking(api: FakeApi, roles: readonly RoleManifest[]): string[] {
  const granted = rightsOf(roles.flatMap(({ rules }) => rules ?? []));
  return rightsOf(api.rulesUsed()).filter((right) => !granted.includes(right));
}

function rightsOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap((rule) =>
    (rule.resources ?? []).flatMap((resource) =>
      rule.verbs.map((verb) => `${verb} ${qualified({ ...rule, resources: [resource] })}`),
    ),
  );
}
