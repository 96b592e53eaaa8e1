import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MariaServer } from "../../../../services/mariadb.mjs";
import { makeDirectory, removeDirectory, userFor } from "../../../../services/server.mjs";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { mysqlParameters } from "../../src/bin/parameters.ts";
import { runBin } from "./run-bin.ts";

const OTHER_NAME = "db.example";

let directory: string;
let server: MariaServer;
/** Of a user who must encrypt, in an empty database. */
let url: string;

const file = (name: string): string => join(directory, name);

/** Makes a key and a certificate: an authority, or a server's that it signs. */
function certify(name: string, ...args: string[]): void {
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", file(`${name}.key`), "-out", file(`${name}.pem`), "-days", "2"],
      ...["-subj", `/CN=${name}`, ...args],
    ],
    { ...userFor("mysql"), cwd: directory, stdio: "pipe" },
  );
}

/** Gives the server the certificate for a name. */
function install(name: string): void {
  for (const part of ["key", "pem"])
    writeFileSync(file(`shown.${part}`), readFileSync(file(`${name}.${part}`)), { mode: 0o644 });
}

/** Lets the server, which runs, show the certificate for a name. */
async function show(name: string): Promise<void> {
  install(name);
  const admin = await createConnection(server.url);
  await admin.query("FLUSH SSL");
  await admin.end();
}

beforeAll(async () => {
  directory = makeDirectory("tls", userFor("mysql"));
  for (const authority of ["ca", "other-ca"]) certify(authority);
  for (const name of ["localhost", OTHER_NAME])
    certify(
      name,
      ...["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-addext", `subjectAltName=DNS:${name}`],
    );
  install("localhost");
  server = await MariaServer.start(undefined, {
    "ssl-cert": file("shown.pem"),
    "ssl-key": file("shown.key"),
  });
  const made = new URL(await makeMySqlDatabase(server.url));
  const admin = await createConnection(server.url);
  await admin.query("CREATE USER encrypted IDENTIFIED BY 'secret' REQUIRE SSL");
  await admin.query("GRANT ALL ON *.* TO encrypted");
  await admin.end();
  url = Object.assign(made, {
    hostname: "localhost",
    username: "encrypted",
    password: "secret",
  }).href;
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  removeDirectory(directory);
});

function urlWith(parameters: Readonly<Record<string, string>>): string {
  const found = new URL(url);
  for (const [name, value] of Object.entries(parameters)) found.searchParams.set(name, value);
  return found.href;
}

/** The cipher of a connection with the settings of a URL. */
async function cipherOf(given: string): Promise<string> {
  const connection = await createConnection(mysqlParameters(given));
  const [rows] = await connection.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
  await connection.end();
  return (rows as { Value: string }[])[0]?.Value ?? "";
}

describe("npx @holdfast/outbox on a MySQL server with TLS", () => {
  it.each<[string, string, () => Readonly<Record<string, string>>]>([
    ["REQUIRED", OTHER_NAME, () => ({ "ssl-mode": "REQUIRED" })],
    ["VERIFY_CA", OTHER_NAME, () => ({ "ssl-mode": "VERIFY_CA", "ssl-ca": file("ca.pem") })],
    ["ssl-ca alone", OTHER_NAME, () => ({ "ssl-ca": file("ca.pem") })],
    [
      "VERIFY_IDENTITY",
      "localhost",
      () => ({ "ssl-mode": "verify_identity", "ssl-ca": file("ca.pem") }),
    ],
  ])("encrypts with %s and a certificate of %s", async (_, name, parameters) => {
    await show(name);
    const given = urlWith(parameters());
    expect(await cipherOf(given)).not.toBe("");
    expect(await runBin(["migrate"], given)).toMatchObject({ code: 0, stderr: "" });
    expect((await runBin(["status"], given)).code).toBe(0);
  });

  it.each<[string, string, () => Readonly<Record<string, string>>, RegExp]>([
    ["no parameter", "localhost", () => ({}), /denied/],
    ["DISABLED", "localhost", () => ({ "ssl-mode": "DISABLED" }), /denied/],
    [
      "PREFERRED",
      "localhost",
      () => ({ "ssl-mode": "PREFERRED" }),
      /ssl-mode of --url must be one of/,
    ],
    [
      "VERIFY_CA without its file",
      "localhost",
      () => ({ "ssl-mode": "VERIFY_CA" }),
      /self.signed|unable to (get|verify)/i,
    ],
    [
      "VERIFY_CA and another authority",
      "localhost",
      () => ({ "ssl-mode": "VERIFY_CA", "ssl-ca": file("other-ca.pem") }),
      /self.signed|unable to (get|verify)/i,
    ],
    [
      "VERIFY_CA and no such file",
      "localhost",
      () => ({ "ssl-mode": "VERIFY_CA", "ssl-ca": file("none.pem") }),
      /no such file.*none\.pem/,
    ],
    [
      "VERIFY_IDENTITY and another name",
      OTHER_NAME,
      () => ({ "ssl-mode": "VERIFY_IDENTITY", "ssl-ca": file("ca.pem") }),
      /altnames/,
    ],
    [
      "VERIFY_IDENTITY and another authority",
      "localhost",
      () => ({ "ssl-mode": "VERIFY_IDENTITY", "ssl-ca": file("other-ca.pem") }),
      /self.signed|unable to (get|verify)/i,
    ],
  ])("is refused with %s and a certificate of %s", async (_, name, parameters, problem) => {
    await show(name);
    const { code, stdout, stderr } = await runBin(["status"], urlWith(parameters()));
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(problem)]);
    expect(stderr).toMatch(/^error: .*\n$/);
  });
});
