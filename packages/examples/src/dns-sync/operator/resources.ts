import {
  customResource,
  type KubeObject,
  type Resource,
  type StatusCondition,
} from "@holdfast/kubernetes";

const apiVersion = "dns.example.org/v1";

/** A domain at the provider, and the default ttl of its records in seconds. */
export type Zone = KubeObject & { spec: { domain: string; ttl: number } };
export const DnsZone: Resource<Zone> = customResource<Zone>({
  apiVersion,
  kind: "DnsZone",
  plural: "dnszones",
});

/** A record in a zone of the same namespace. `ttl` is in seconds. */
export interface Item extends KubeObject {
  spec: { zone: string; host: string; type: string; value: string; ttl?: number };
  status?: { state: string; conditions: readonly StatusCondition[] };
}
export const DnsRecord: Resource<Item> = customResource<Item>({
  apiVersion,
  kind: "DnsRecord",
  plural: "dnsrecords",
});
