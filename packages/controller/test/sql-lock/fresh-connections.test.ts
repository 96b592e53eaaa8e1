import type { ResourceLock } from "@holdfast/controller";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import {
  type Door,
  MYSQL_WAYS,
  mysqlPool,
  POSTGRES_WAYS,
  pgPool,
  testFreshConnections,
} from "../../../../test/fresh-connections.contract.ts";

type Use = (lock: ResourceLock, signal: AbortSignal) => Promise<unknown>;

const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };

const create: Use = (lock, signal) => lock.create(record, signal);
const update: Use = (lock, signal) => lock.update(record, "1", signal);

const postgres = (use: Use) => (): Door => {
  const { pool, connections } = pgPool();
  const lock = new PostgresLock(pool as never, { name: "a" });
  return connections.door((signal) => use(lock, signal), POSTGRES_WAYS);
};

testFreshConnections(
  { "PostgresLock.create": postgres(create), "PostgresLock.update": postgres(update) },
  Object.keys(POSTGRES_WAYS),
);

const mysql = (use: Use) => (): Door => {
  const { pool, connections } = mysqlPool();
  const lock = new MySqlLock(pool as never, { name: "a" });
  return connections.door((signal) => use(lock, signal), MYSQL_WAYS);
};

testFreshConnections(
  { "MySqlLock.create": mysql(create), "MySqlLock.update": mysql(update) },
  Object.keys(MYSQL_WAYS),
);
