import { isMigrated } from '../db/migrate.ts';
import type { Services } from './services.ts';
import type { TemporalClient } from './temporal-client.ts';

const CHECK_TIMEOUT_MS = 2_000;

/** Whether everything the service depends on is there, part by part. */
export interface Readiness {
  readonly status: 'ready' | 'not_ready';
  readonly checks: {
    readonly postgresql: 'ok' | 'unreachable';
    readonly migrations: 'ok' | 'pending' | 'unknown';
    readonly temporal: 'ok' | 'unreachable';
  };
}

/** Asks PostgreSQL and Temporal, each for at most two seconds. Never throws. */
export async function readiness(services: Services, temporal: TemporalClient): Promise<Readiness> {
  const [migrations, reachable] = await Promise.all([migrationState(services), temporal.isReachable(CHECK_TIMEOUT_MS)]);
  return {
    status: migrations === 'ok' && reachable ? 'ready' : 'not_ready',
    checks: {
      postgresql: migrations === 'unknown' ? 'unreachable' : 'ok',
      migrations,
      temporal: reachable ? 'ok' : 'unreachable',
    },
  };
}

/** `unknown` when the database does not answer in time. */
async function migrationState(services: Services): Promise<'ok' | 'pending' | 'unknown'> {
  const late = Promise.withResolvers<'unknown'>();
  const timer = setTimeout(() => late.resolve('unknown'), CHECK_TIMEOUT_MS);
  const asked = (async () => {
    await services.db.query('select 1');
    return (await isMigrated(services.db)) ? ('ok' as const) : ('pending' as const);
  })().catch(() => 'unknown' as const);
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
