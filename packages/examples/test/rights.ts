// The roles in a manifest, each of them without one right, and the rights that they have to grant.
import { readFileSync } from "node:fs";
import type { PolicyRule, RoleManifest } from "@holdfast/fake-apiserver";
import { expect } from "vitest";
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

/** Rights as `verb resource`, sorted. */
export function rightsOf(rules: readonly PolicyRule[]): string[] {
  return rules
    .flatMap((rule) =>
      (rule.resources ?? []).flatMap((resource) =>
        rule.verbs.map((verb) => `${verb} ${qualified({ ...rule, resources: [resource] })}`),
      ),
    )
    .sort();
}

/** Fails unless the Role grants the rules on the Lease that an exploration gathered, the ClusterRole the others. */
export function expectExactly(
  roles: readonly RoleManifest[],
  gathered: readonly PolicyRule[],
): void {
  const granted = (wanted: string) =>
    rightsOf(roles.filter(({ kind }) => kind === wanted).flatMap(({ rules }) => rules ?? []));
  const isOfLease = ({ resources = [] }: PolicyRule) => resources.includes("leases");
  expect({ ClusterRole: granted("ClusterRole"), Role: granted("Role") }).toEqual({
    ClusterRole: rightsOf(gathered.filter((rule) => !isOfLease(rule))),
    Role: rightsOf(gathered.filter(isOfLease)),
  });
}

function qualified({ apiGroups = [], resources = [] }: PolicyRule): string {
  const [group] = apiGroups;
  const [plural = "", subresource] = (resources[0] ?? "").split("/");
  const name = group === "" ? plural : `${plural}.${group}`;
  return subresource === undefined ? name : `${name}/${subresource}`;
}
