import type { Logger } from '../core/logger.ts';
import type { Sql } from '../db/database.ts';
import { noteEndpointTrouble } from '../db/queries/endpoint-health.ts';
import { ENDPOINT_TROUBLE_MS } from '../domain/delivery-limits.ts';

/** A note is written again after this, so that it does not run out while the trouble lasts. */
const REPEAT_MS = ENDPOINT_TROUBLE_MS / 2;
const GATHER_MS = 50;
const REMEMBERED_MAX = 50_000;

/**
 * Tells dispatchers which endpoints are slow, by the rows of these, seldom and several together.
 *
 * @returns to be called whenever one is found so; never throws, a lost note costs time of others only
 */
export function troubleNotes(sql: Sql, log: Logger): (endpointId: string) => void {
  const written = new Map<string, number>();
  let gathered: string[] = [];

  function write(): void {
    const endpointIds = gathered;
    gathered = [];
    noteEndpointTrouble(sql, endpointIds, ENDPOINT_TROUBLE_MS).catch((error: Error) =>
      log.debug({ error: error.message }, 'trouble of endpoints was not noted'),
    );
  }

  return (endpointId) => {
    const nowMs = performance.now();
    if (nowMs - (written.get(endpointId) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    if (written.size >= REMEMBERED_MAX) written.clear();
    written.set(endpointId, nowMs);
    gathered.push(endpointId);
    if (gathered.length === 1) setTimeout(write, GATHER_MS);
  };
}
