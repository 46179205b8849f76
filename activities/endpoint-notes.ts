import type { AttemptResult } from '../core/webhook-sender.ts';
import type { Sql } from '../db/database.ts';
import { disableGoneEndpoint, noteEndpointFailure, noteEndpointSuccess } from '../db/queries/endpoint-health.ts';

/** Keeps `lastSuccessAt`, `failingSince` and the answer 410 of endpoints. */
export interface EndpointNotes {
  note(endpointId: string, url: string, result: AttemptResult): Promise<void>;
}

/** A state that was written is written again only after this time, so that a busy endpoint costs no write a delivery. */
const REPEAT_MS = 10_000;
const REMEMBERED_MAX = 50_000;
const GONE = 410;

/** @param onGone told when an endpoint was set inactive because its server answered 410 */
export function endpointNotes(sql: Sql, onGone: (endpointId: string) => void): EndpointNotes {
  const written = new Map<string, { delivered: boolean; atMs: number }>();
  return {
    async note(endpointId, url, result) {
      if (result.responseCode === GONE && (await disableGoneEndpoint(sql, endpointId, url))) onGone(endpointId);
      const delivered = result.error === null;
      const nowMs = Date.now();
      const last = written.get(endpointId);
      if (last !== undefined && last.delivered === delivered && nowMs - last.atMs < REPEAT_MS) return;
      if (written.size >= REMEMBERED_MAX) written.clear();
      written.set(endpointId, { delivered, atMs: nowMs });
      await (delivered ? noteEndpointSuccess(sql, [endpointId]) : noteEndpointFailure(sql, [endpointId]));
    },
  };
}
