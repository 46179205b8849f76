import type { Sql } from '#db/database.ts';
import { noteEndpointFailure, noteEndpointSuccess } from '#db/queries/webhooks/endpoint-health.ts';

/** Keeps `lastSuccessAt` and `failingSince` of endpoints. */
export interface EndpointNotes {
  /** @param outcomes the last outcome of each endpoint in a batch: whether it acknowledged */
  write(outcomes: ReadonlyMap<string, boolean>): Promise<void>;
}

/** A state that was written is written again only after this time, so that a busy endpoint costs no write a batch. */
const REPEAT_MS = 10_000;
const REMEMBERED_MAX = 50_000;

export function endpointNotes(sql: Sql, now: () => number): EndpointNotes {
  const written = new Map<string, { delivered: boolean; atMs: number }>();
  return {
    async write(outcomes) {
      const nowMs = now();
      const news = [...outcomes].filter(([endpointId, delivered]) => {
        const last = written.get(endpointId);
        return last === undefined || last.delivered !== delivered || nowMs - last.atMs >= REPEAT_MS;
      });
      const succeeded = news.filter(([, delivered]) => delivered).map(([endpointId]) => endpointId);
      const failed = news.filter(([, delivered]) => !delivered).map(([endpointId]) => endpointId);
      if (succeeded.length > 0) await noteEndpointSuccess(sql, succeeded, new Date(now()));
      if (failed.length > 0) await noteEndpointFailure(sql, failed, new Date(now()));
      if (written.size + news.length > REMEMBERED_MAX) written.clear();
      for (const [endpointId, delivered] of news) written.set(endpointId, { delivered, atMs: nowMs });
    },
  };
}
