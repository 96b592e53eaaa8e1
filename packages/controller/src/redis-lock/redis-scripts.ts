// A record is valid in the run of the server that wrote it. After a restart a server may lack the last writes,
// so older records count as absent.
const CURRENT = `
  local server = redis.call('INFO', 'server')
  local run = string.match(server, 'run_id:(%x+)')
  local found = redis.call('HMGET', KEYS[1], 'run', 'version', 'record')
  local version, record = 'none:' .. run, false
  if found[1] == run then version, record = found[2], found[3] end
`;

/** KEYS: the lock. Returns the version, the record if there is one, and the server's time in ms. */
export const READ: string = `${CURRENT}
  local time = redis.call('TIME')
  return { version, record, time[1] * 1000 + math.floor(time[2] / 1000) }
`;

/**
 * KEYS: the lock. ARGV: the version that is replaced, the new one, the record, and how long the server
 * must have been up for the first record of its run, in ms. Returns the outcome, and the time
 * until the server is old enough, in ms.
 *
 * The server counts its life in whole seconds of its wall clock, of which it has not lived the last.
 * A client that lost the reply may send the same again: it finds its own version.
 */
export const WRITE: string = `${CURRENT}
  if version == ARGV[2] then return { 'written', 0 } end
  if version ~= ARGV[1] then return { 'conflict', 0 } end
  local up = string.match(server, 'uptime_in_seconds:(%d+)') * 1000 - 1000
  if not record and up < tonumber(ARGV[4]) then return { 'young', ARGV[4] - up } end
  redis.call('HSET', KEYS[1], 'run', run, 'version', ARGV[2], 'record', ARGV[3])
  return { 'written', 0 }
`;
