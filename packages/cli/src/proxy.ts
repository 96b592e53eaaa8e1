import { BlockList, isIP } from "node:net";
import { InvalidArgumentError } from "commander";
import { hostOf, portOf } from "./network.ts";

/** Finds the proxy of a URL; undefined for a direct connection. */
export type ProxyFinder = (url: URL) => URL | undefined;

/** Never a proxy. */
export const noProxy: ProxyFinder = () => undefined;

/**
 * The proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name; in small letters they go first. A proxy without a scheme is
 * `http://`.
 *
 * @throws InvalidArgumentError for a proxy that is none for http
 */
export function proxiesOf(env: NodeJS.ProcessEnv): ProxyFinder {
  const variable = (name: string): string => env[name.toLowerCase()] || env[name] || "";
  const [http, https] = ["HTTP_PROXY", "HTTPS_PROXY"].map((name) =>
    proxyFrom(name, variable(name)),
  );
  const exceptions = variable("NO_PROXY")
    .split(/[\s,]+/)
    .filter(Boolean);
  return (url) => {
    if (exceptions.some((exception) => matches(exception.toLowerCase(), url))) return undefined;
    return url.protocol === "https:" ? https : http;
  };
}

function proxyFrom(name: string, value: string): URL | undefined {
  if (value === "") return undefined;
  const text = /^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The value may hold a password: it is not repeated.
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new InvalidArgumentError(
      `${name} is no proxy; expected HOST:PORT, http://HOST:PORT or https://HOST:PORT.`,
    );
  return url;
}

/**
 * | Exception | Hosts |
 * | --- | --- |
 * | `*` | all |
 * | `example.com`, `.example.com`, `*.example.com` | that one and those below it |
 * | `127.0.0.1`, `[::1]`, `::1` | that address |
 * | `10.0.0.0/8` | addresses of that net |
 * | any of these with `:PORT` | on that port only |
 */
function matches(exception: string, url: URL): boolean {
  if (exception === "*") return true;
  const host = hostOf(url).replace(/\.$/, "");
  const [, bracketed, named, port] =
    /^(?:\[([^\]]+)\]|([^:]+)):?(\d+)?$/.exec(exception) ?? ([] as undefined[]);
  // Without brackets, an IPv6 address has no port.
  const name = (bracketed ?? named ?? exception).replace(/^\*?\./, "").replace(/\.$/, "");
  if (port !== undefined && Number(port) !== portOf(url)) return false;
  if (isIP(host) !== 0) return isInNet(host, name);
  return host === name || host.endsWith(`.${name}`);
}

function isInNet(address: string, net: string): boolean {
  const [start = "", digits] = net.split("/");
  const family = isIP(start);
  if (family === 0) return false;
  const bits = family === 4 ? 32 : 128;
  const prefix = digits === undefined ? bits : Number(digits);
  if (!/^\d*$/.test(digits ?? "") || prefix > bits) return false;
  const list = new BlockList();
  list.addSubnet(start, prefix, family === 4 ? "ipv4" : "ipv6");
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
