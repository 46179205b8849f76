import type { Logger } from '#core/platform/log/logger.ts';
import type { Sql } from '#db/database.ts';
import { noteEndpointTrouble } from '#db/queries/webhooks/endpoint-health.ts';
import { ENDPOINT_TROUBLE_MS } from '#domain/webhooks/delivery-limits.ts';

/** A note is written again after this, so that it does not expire while the endpoint is still slow. */
const REPEAT_MS = ENDPOINT_TROUBLE_MS / 2;
const GATHER_MS = 50;
const REMEMBERED_MAX = 50_000;

/**
 * Marks the rows of slow endpoints for the dispatchers, rarely and several together.
 *
 * @returns a function to call whenever one is found slow; never throws, a lost note only costs time
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
