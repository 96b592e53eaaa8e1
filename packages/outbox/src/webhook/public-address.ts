import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Addresses that no public host has. Sources: the special-purpose registries of IANA, RFC 6890 and its successors. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local, and the metadata of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16],
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3], // multicast, reserved, broadcast
] as const)
  PRIVATE.addSubnet(network, prefix, "ipv4");

/** Public addresses of IPv6, and the parts of them that lead back to IPv4 or are special. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet("2000::", 3, "ipv6");
const SPECIAL_V6 = new BlockList();
for (const [network, prefix] of [
  ["2001::", 23], // Teredo, ORCHID and other protocols
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: an address of IPv4 within
  ["3fff::", 20], // documentation
] as const)
  SPECIAL_V6.addSubnet(network, prefix, "ipv6");

/** Between this file and the publisher: users see a TerminalError. */
const CODE = "EPRIVATE";

/**
 * Whether a host is an address that is not public. False for a name.
 *
 * @param host - of a parsed URL, in which every spelling of an address of IPv4 has become the usual one
 */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const family = isIP(address);
  if (family === 4) return PRIVATE.check(address, "ipv4");
  if (family === 6) return !GLOBAL_V6.check(address, "ipv6") || SPECIAL_V6.check(address, "ipv6");
  return false;
}

/** Whether {@link publicLookup} refused an address. */
export function isPrivateAddressError(error: NodeJS.ErrnoException): boolean {
  return error.code === CODE;
}

/** Resolves a name, and fails if one of its addresses is not public. The connection uses the result, so no second one. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0);
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return callback(Object.assign(new Error("address is not public"), { code: CODE }), "", 0);
    if (options.all === true) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first?.address ?? "", first?.family);
  });
};
