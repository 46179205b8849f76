/**
 * What attempts tell about their endpoints, written into the endpoints' rows.
 *
 *   slow      ──▶ `troubled_until`: dispatchers give its deliveries a workflow of their own
 *   outcome   ──▶ `last_success_at`, `failing_since`
 *   given up  ──▶ set inactive if it has failed for too long
 *   410       ──▶ set inactive if every attempt of the delivery was answered with it
 *
 * A busy endpoint costs few writes: several endpoints are written together, and what was written already is written
 * again only after some seconds. A lost note of slowness costs time only.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { PatientDatabase } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Disabled, disableFailingEndpoints } from '#core/webhooks/endpoints/disable-endpoint.ts';
import type { AttemptRecord, ReservedAttempt } from '#db/queries/deliveries/attempts.ts';
import {
  disableGoneEndpoint,
  noteEndpointFailure,
  noteEndpointSuccess,
  noteEndpointTrouble,
} from '#db/queries/webhooks/endpoint-health.ts';
import { ENDPOINT_TROUBLE_MS } from '#domain/webhooks/delivery-limits.ts';

/** What an attempt that is recorded says about its endpoint. */
export interface EndpointOutcome extends Pick<AttemptRecord, 'status' | 'error'> {
  readonly endpointId: string;
}

export interface EndpointHealth {
  /** Notes that an endpoint is slow. Call it as often as that is seen; never throws. */
  slow(endpointId: string): void;
  /** The last attempt of a delivery was answered with 410, and is recorded. */
  gone(attempt: Pick<ReservedAttempt, 'id' | 'endpointId' | 'url'>): Promise<void>;
  /** Writes outcomes of several attempts, oldest first: of each endpoint the last one counts. */
  write(outcomes: readonly EndpointOutcome[]): Promise<void>;
}

export interface EndpointsSetInactive {
  /** Called when an endpoint answered 410 throughout and was set inactive. */
  readonly onEndpointGone: (endpointId: string) => void;
  /** Called when endpoints had failed for too long and were set inactive. */
  readonly onDisabled: (disabled: readonly Disabled[]) => void;
}

/** So that a note of slowness does not expire while the endpoint is still slow. */
const TROUBLE_AGAIN_MS = ENDPOINT_TROUBLE_MS / 2;
const TROUBLE_GATHER_MS = 50;
const OUTCOME_AGAIN_MS = 10_000;
const REMEMBERED_MAX = 50_000;

export function endpointHealth(
  services: Pick<Services, 'db' | 'now' | 'log'>,
  db: PatientDatabase,
  { onEndpointGone, onDisabled }: EndpointsSetInactive,
): EndpointHealth {
  const { now, log } = services;
  /** What was written last about each endpoint: whether it acknowledged. */
  const written = new Map<string, { readonly delivered: boolean; readonly atMs: number }>();

  /** @param outcomes whether each acknowledged */
  async function writeLast(outcomes: ReadonlyMap<string, boolean>): Promise<void> {
    const nowMs = now();
    const news = [...outcomes].filter(([endpointId, delivered]) => {
      const last = written.get(endpointId);
      return last === undefined || last.delivered !== delivered || nowMs - last.atMs >= OUTCOME_AGAIN_MS;
    });
    const succeeded = news.flatMap(([endpointId, delivered]) => (delivered ? [endpointId] : []));
    const failed = news.flatMap(([endpointId, delivered]) => (delivered ? [] : [endpointId]));
    if (succeeded.length > 0) await noteEndpointSuccess(db, succeeded, new Date(now()));
    if (failed.length > 0) await noteEndpointFailure(db, failed, new Date(now()));
    if (written.size + news.length > REMEMBERED_MAX) written.clear();
    for (const [endpointId, delivered] of news) written.set(endpointId, { delivered, atMs: nowMs });
  }

  async function disableFailing(endpointIds: readonly string[]): Promise<void> {
    if (endpointIds.length === 0) return;
    const disabled = await db.patiently(() => disableFailingEndpoints(services, endpointIds));
    if (disabled.length > 0) onDisabled(disabled);
  }

  return {
    slow: slownessNotes(services, log),
    async gone({ id, endpointId, url }) {
      if (await disableGoneEndpoint(db, endpointId, url, id)) onEndpointGone(endpointId);
    },
    async write(outcomes) {
      await writeLast(new Map(outcomes.map(({ endpointId, error }) => [endpointId, error === null])));
      const givenUp = outcomes.flatMap(({ endpointId, status }) => (status === 'exhausted' ? [endpointId] : []));
      await disableFailing([...new Set(givenUp)]);
    },
  };
}

function slownessNotes({ db }: Pick<Services, 'db'>, log: Logger): EndpointHealth['slow'] {
  const notedAtMs = new Map<string, number>();
  let gathered: string[] = [];

  function write(): void {
    const endpointIds = gathered;
    gathered = [];
    noteEndpointTrouble(db, endpointIds, ENDPOINT_TROUBLE_MS).catch((error: Error) =>
      log.debug({ error: error.message }, 'trouble of endpoints was not noted'),
    );
  }

  return (endpointId) => {
    const nowMs = performance.now();
    if (nowMs - (notedAtMs.get(endpointId) ?? Number.NEGATIVE_INFINITY) < TROUBLE_AGAIN_MS) return;
    if (notedAtMs.size >= REMEMBERED_MAX) notedAtMs.clear();
    notedAtMs.set(endpointId, nowMs);
    gathered.push(endpointId);
    if (gathered.length === 1) setTimeout(write, TROUBLE_GATHER_MS);
  };
}
