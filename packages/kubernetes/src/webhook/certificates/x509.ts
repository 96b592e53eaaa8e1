import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Authority, Leaf } from "./decide.ts";
import { HiddenText } from "./hidden-text.ts";

/** An authority with its key. */
export interface KeyedAuthority extends Authority {
  readonly key: HiddenText;
}

/** The certificate of a server with its key. */
export interface KeyedLeaf extends Leaf {
  readonly cert: string;
  readonly key: HiddenText;
}

/** The time of a certificate: instants of the wall clock, in milliseconds. */
interface Life {
  readonly from: number;
  readonly to: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** The library that writes certificates: loaded by those who make some. */
export async function x509Library(): Promise<typeof import("@peculiar/x509")> {
  try {
    // Its container of dependencies stands on this, and does not import it.
    await import("reflect-metadata");
    return await import("@peculiar/x509");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error(
      'options.webhooks.certificate "self" needs two packages: npm install @peculiar/x509 reflect-metadata',
      { cause },
    );
  }
}

async function newKeys(): Promise<{ readonly publicKey: object; readonly privateKey: object }> {
  return await globalThis.crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function pemOf(key: object): Promise<HiddenText> {
  const der = Buffer.from(await globalThis.crypto.subtle.exportKey("pkcs8", key as never));
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return new HiddenText(`-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`);
}

/** Makes an authority. */
export async function newAuthority(name: string, { from, to }: Life): Promise<KeyedAuthority> {
  const x509 = await x509Library();
  const keys = (await newKeys()) as never;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date(from),
    notAfter: new Date(to),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create((keys as { publicKey: never }).publicKey),
    ],
  });
  const { privateKey } = keys as { privateKey: object };
  return requireAuthority(cert.toString("pem"), await pemOf(privateKey));
}

/** Makes the certificate of a server, signed by an authority. */
export async function newLeaf(
  authority: KeyedAuthority,
  names: readonly string[],
  { from, to }: Life,
): Promise<KeyedLeaf> {
  const x509 = await x509Library();
  const keys = await newKeys();
  const { subtle } = globalThis.crypto;
  const der = createPrivateKey(authority.key.reveal()).export({ type: "pkcs8", format: "der" });
  const signingKey = await subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
  const issuer = new x509.X509Certificate(authority.id);
  const cert = await x509.X509CertificateGenerator.create({
    subject: "CN=webhooks",
    issuer: issuer.subject,
    notBefore: new Date(from),
    notAfter: new Date(Math.min(to, authority.to)),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey as never,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({
          type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const),
          value,
        })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  const pem = `${cert.toString("pem").trim()}\n`;
  return requireLeaf(pem, await pemOf(keys.privateKey), [authority.id]);
}

/** Reads an authority. @throws Error for texts that are none */
export function requireAuthority(cert: string, key: HiddenText): KeyedAuthority {
  const read = new X509Certificate(cert);
  if (!read.ca || !read.checkPrivateKey(createPrivateKey(key.reveal())))
    throw new Error("the certificate and the key are no authority");
  return { id: `${cert.trim()}\n`, key, ...lifeOf(read) };
}

/** Reads the certificate of a server. Its issuer is empty if no one of `authorities` has signed it. */
export function requireLeaf(
  cert: string,
  key: HiddenText,
  authorities: readonly string[],
): KeyedLeaf {
  const read = new X509Certificate(cert);
  const issuer = authorities.find((one) => read.verify(new X509Certificate(one).publicKey)) ?? "";
  if (!read.checkPrivateKey(createPrivateKey(key.reveal())))
    throw new Error("the key does not fit the certificate");
  return { issuer, names: namesIn(read.subjectAltName ?? ""), cert, key, ...lifeOf(read) };
}

/** The names of a certificate as one text, to be compared. */
export function namesOf(names: readonly string[]): string {
  return [...names].sort().join(",");
}

function namesIn(text: string): string {
  return namesOf(text.split(", ").map((one) => one.replace(/^(DNS|IP Address):/, "")));
}

function lifeOf({ validFrom, validTo }: X509Certificate): Life {
  return { from: Date.parse(validFrom), to: Date.parse(validTo) };
}
