import type { KubeObject } from "../../object/kube-object.ts";
import type { CertificateState } from "./decide.ts";
import { HiddenText } from "./hidden-text.ts";
import { type KeyedAuthority, type KeyedLeaf, requireAuthority, requireLeaf } from "./x509.ts";

/** The certificates of an operator, with their keys. */
export type KeyedState = CertificateState<KeyedAuthority, KeyedLeaf>;

/** A Secret as far as certificates are concerned. */
export interface SecretObject extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

/** The data of a Secret with these certificates. */
export function dataOf({
  authority,
  next,
  last = [],
  leaf,
  since,
}: KeyedState): Record<string, string> {
  const texts = {
    "ca.crt": authority.id,
    "ca.key": authority.key.reveal(),
    ...(next !== undefined && { "next.crt": next.id, "next.key": next.key.reveal() }),
    ...(last.length > 0 && { "last.crt": last.join("") }),
    "tls.crt": leaf.cert,
    "tls.key": leaf.key.reveal(),
    since: String(since),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
}

/** The certificates in a Secret. Undefined for one that has none, or others than it should. */
export function stateIn({ data = {} }: Pick<SecretObject, "data">): KeyedState | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const hidden = (name: string): HiddenText => new HiddenText(text(name));
  try {
    const authority = requireAuthority(text("ca.crt"), hidden("ca.key"));
    const next =
      data["next.crt"] === undefined
        ? undefined
        : requireAuthority(text("next.crt"), hidden("next.key"));
    const last = pemsIn(text("last.crt"));
    const authorities = [authority.id, ...(next ? [next.id] : []), ...last];
    const leaf = requireLeaf(text("tls.crt"), hidden("tls.key"), authorities);
    const since = Number(text("since"));
    if (!Number.isFinite(since)) return undefined;
    return { authority, ...(next && { next }), ...(last.length > 0 && { last }), leaf, since };
  } catch {
    return undefined; // an error may show a part of a key
  }
}

/** The certificates of a text, one by one. */
export function pemsIn(text: string): string[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((pem) => `${pem}\n`);
}
