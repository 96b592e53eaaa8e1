import { readFileSync } from "node:fs";

const pem = (name: string): string => readFileSync(new URL(`${name}.pem`, import.meta.url), "utf8");

/**
 * Certificates for tests, valid until 2126. The keys of the authorities were thrown away:
 *
 * `openssl req -x509 -new -key ca.key.pem -subj "/CN=holdfast test CA" -days 36500 -out ca.pem`
 * `openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key.pem -days 36500 -extfile ext -out server.pem`
 */
export const certificates = {
  /** The authority that signed all others. */
  ca: pem("ca"),
  /** An authority that signed none. */
  otherCa: pem("other-ca"),
  /** For 127.0.0.1, localhost and api.test. */
  server: { cert: pem("server"), key: pem("server.key") },
  /** For elsewhere.test. */
  elsewhere: { cert: pem("elsewhere"), key: pem("elsewhere.key") },
  /** The client "ann". */
  client: { cert: pem("client"), key: pem("client.key") },
};
