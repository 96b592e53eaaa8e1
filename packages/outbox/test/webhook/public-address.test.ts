import { isTerminalError } from "@holdfast/controller";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { isPrivateAddress } from "../../src/webhook/public-address.ts";
import { sampleMessage } from "../sample-message.ts";

/** What platforms document as answered to their own machines alone. */
const PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  "Alibaba Cloud": ["100.100.100.200", "100.100.2.136"],
  AWS: [
    "169.254.169.254",
    "169.254.169.253",
    "169.254.170.2",
    "169.254.170.23",
    "fd00:ec2::254",
    "fd00:ec2::23",
  ],
  Azure: ["168.63.129.16", "169.254.169.254", "fe80::1234:5678:9abc"],
  DigitalOcean: ["169.254.169.254"],
  "Google Cloud": [
    "169.254.169.254",
    "fd20:ce::254",
    "199.36.153.4",
    "199.36.153.7",
    "199.36.153.8",
    "199.36.153.11",
    "2600:2d00:2:1000::1",
    "2600:2d00:2:2000::1",
  ],
  Hetzner: ["169.254.169.254"],
  "Huawei Cloud": ["169.254.169.254", "100.125.1.250"],
  "IBM Cloud": ["169.254.169.254", "161.26.0.10", "166.8.0.1", "166.9.228.73", "166.11.255.254"],
  Linode: ["169.254.169.254", "fd00:a9fe:a9fe::1"],
  OpenStack: ["169.254.169.254", "fe80::a9fe:a9fe"],
  "Oracle Cloud": ["169.254.169.254", "192.0.0.192", "fd00:c1::a9fe:a9fe"],
  Scaleway: ["169.254.42.42", "fd00:42::42"],
  "Tencent Cloud": ["169.254.0.23", "183.60.83.19", "183.60.82.98"],
};

/** The special-purpose address registries of IANA, as of 2026: each block by its first address. */
const REGISTRIES: readonly string[] = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...[
    "192.0.0.0/24",
    "192.0.0.8/32",
    "192.0.0.9/32",
    "192.0.0.170/32",
    "192.0.2.0/24",
    "192.31.196.0/24",
  ],
  ...["192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"],
  ...["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"],
  ...[
    "::/128",
    "::1/128",
    "::ffff:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
  ],
  ...["2001::/23", "2001::/32", "2001:1::1/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48"],
  ...[
    "2001:10::/28",
    "2001:20::/28",
    "2001:30::/28",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
  ],
  ...["3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
];

const V4 = Object.values(PLATFORMS)
  .flat()
  .filter((one) => !one.includes(":"));
const hex = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

/** How an address of IPv6 holds one of IPv4. */
const EMBEDDINGS: Readonly<Record<string, (address: string) => string>> = {
  mapped: (address) => `::ffff:${hex(address)}`,
  "mapped, with dots": (address) => `::ffff:${address}`,
  compatible: (address) => `::${hex(address)}`,
  translated: (address) => `::ffff:0:${hex(address)}`,
  NAT64: (address) => `64:ff9b::${hex(address)}`,
  "NAT64, local": (address) => `64:ff9b:1::${hex(address)}`,
  "6to4": (address) => `2002:${hex(address)}::1`,
  Teredo: (address) => `2001:0:${hex(address)}::1`,
};

const refusedAt = async (host: string): Promise<boolean> => {
  const publisher = new WebhookPublisher({ url: () => `http://${host}:1/` });
  return isTerminalError(await errorOf(publisher.publish(sampleMessage(), AbortSignal.timeout(9))));
};
const asHost = (address: string): string => (address.includes(":") ? `[${address}]` : address);

describe("an address that is not public", () => {
  it.each(Object.entries(PLATFORMS))(
    "is each one that %s answers to its own machines",
    async (_, addresses) => {
      for (const one of addresses)
        expect([one, isPrivateAddress(one), await refusedAt(asHost(one))]).toEqual([
          one,
          true,
          true,
        ]);
    },
  );

  it.each(REGISTRIES)("is each one of %s, from first to last", (block) => {
    const [network = "", prefix] = block.split("/");
    const isV4 = !network.includes(":");
    const [bits, first] = isV4 ? [32, numberOfV4(network)] : [128, numberOfV6(network)];
    const size = 1n << BigInt(bits - Number(prefix));
    const write = isV4 ? v4Of : v6Of;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: size - 1n }), (offset) => {
        expect(isPrivateAddress(write(first + offset))).toBe(true);
      }),
      { examples: [[0n], [size - 1n]] },
    );
  });

  it.each(Object.entries(EMBEDDINGS))(
    "is each one that holds one of a platform, %s",
    async (_, embed) => {
      for (const one of V4) {
        const host = new URL(`http://[${embed(one)}]`).hostname;
        expect([host, isPrivateAddress(host), isPrivateAddress(embed(one))]).toEqual([
          host,
          true,
          true,
        ]);
      }
    },
  );

  it.each([
    "8.8.8.8",
    "168.63.129.15",
    "168.63.129.17",
    "161.25.255.255",
    "161.27.0.0",
    "166.7.255.255",
    "166.12.0.0",
    "199.36.153.3",
    "199.36.153.12",
    "183.60.83.18",
    "192.31.195.255",
    "192.176.0.0",
    "2600:2d00:2:3000::1",
    "2620:4f:7fff::1",
    "2001:200::1",
    "2606:4700::1111",
  ])("is not %s", (address) => expect(isPrivateAddress(address)).toBe(false));
});

const numberOfV4 = (address: string): bigint =>
  address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
const v4Of = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => `${(value >> shift) & 255n}`).join(".");
function numberOfV6(address: string): bigint {
  const [head = "", tail = ""] = address.split("::");
  const [left, right] = [head, tail].map((text) => text.split(":").filter(Boolean)) as [
    string[],
    string[],
  ];
  const middle = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...middle, ...right].reduce(
    (sum, part) => sum * 65_536n + BigInt(`0x${part}`),
    0n,
  );
}
const v6Of = (value: bigint): string =>
  Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 65_535n).toString(16),
  ).join(":");
