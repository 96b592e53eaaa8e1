import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const packages = fileURLToPath(new URL("../../..", import.meta.url));
const deploy = new URL("../../src/cron-task/deploy/", import.meta.url);

it("the manifests of cron-task are those of its resources, and its account has their roles", () => {
  const command = [
    ...["kubernetes/dist/bin/main.js", "manifests", "examples/dist/cron-task/resources.js"],
    ...["--out", fileURLToPath(deploy), "--service", "cron-task", "--namespace", "cron-task"],
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...command, "--check"], {
    cwd: packages,
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  const objects = (name: string) =>
    parseAllDocuments(readFileSync(new URL(name, deploy), "utf8")).map((one) => one.toJS());
  const roles = ["webhook-role.yaml", "webhook-cluster-role.yaml"].flatMap(objects);
  expect(
    objects("webhook-bindings.yaml").map(({ roleRef: { kind, name } }) => [kind, name]),
  ).toEqual(roles.map(({ kind, metadata }) => [kind, metadata.name]));
});
