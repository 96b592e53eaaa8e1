import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { type Kinds, parsed, read, text } from "@holdfast/kit";

export const RABBIT_TLS: Kinds<RabbitTls> = {
  ca: parsed("pem"),
  cert: parsed("pem"),
  key: parsed("pem"),
  passphrase: parsed("passphrase"),
  servername: text,
};

/** The certificates of a connection to a broker, in PEM. */
export interface RabbitTls {
  /**
   * The authorities that may have signed the certificate of the broker: the text of a file, not its name.
   *
   * @defaultValue those that Node trusts
   */
  readonly ca?: string | Uint8Array | undefined;

  /**
   * The certificate of this side, with those between it and its authority.
   *
   * @defaultValue none
   */
  readonly cert?: string | Uint8Array | undefined;

  /**
   * The key of `cert`.
   *
   * @defaultValue none
   */
  readonly key?: string | Uint8Array | undefined;

  /**
   * Opens an encrypted `key`. Not empty.
   *
   * @defaultValue none
   */
  readonly passphrase?: string | undefined;

  /**
   * The name that the certificate of the broker must have. Not empty.
   *
   * @defaultValue the host of the URL
   */
  readonly servername?: string | undefined;
}

/** What a connection by TLS is made with. The keys are inside, where no error shows them. */
export interface RabbitSecurity {
  /** A `SecureContext` of Node. */
  readonly secureContext: object;
  readonly servername?: string;
}

/**
 * Reads the certificates once.
 *
 * @throws RangeError or TypeError without a part of a key
 */
export function secureContextOf(tls: RabbitTls): RabbitSecurity {
  const { servername, passphrase, ...pems } = read(
    "options.tls",
    tls,
    "RabbitPublisher",
    RABBIT_TLS,
  );
  if ((pems.cert === undefined) !== (pems.key === undefined))
    throw new RangeError("options.tls must have both a cert and its key, or neither");
  try {
    const [ca, cert, key] = [pems.ca, pems.cert, pems.key].map(bytesOf);
    // Node trusts nobody, and says so in no error, if there is no certificate in `ca`.
    if (ca !== undefined) new X509Certificate(ca);
    const secureContext = createSecureContext({ ca, cert, key, passphrase });
    return servername === undefined ? { secureContext } : { secureContext, servername };
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new RangeError(
      `options.tls must hold certificates, a key and its passphrase in PEM that fit together, got ${code}`,
    );
  }
}

function bytesOf(pem: string | Uint8Array | undefined): Buffer | undefined {
  return pem === undefined ? undefined : Buffer.from(pem as Uint8Array);
}
