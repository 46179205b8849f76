import Type, { type Static } from 'typebox';
import type { Services } from '../../core/services.ts';
import type { TemporalClient } from '../../core/temporal-client.ts';
import { isMigrated } from '../../db/migrate.ts';
import { type Route, route } from '../route.ts';

const CHECK_TIMEOUT_MS = 2_000;

const Health = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false });

const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    checks: Type.Object(
      {
        postgresql: Type.Enum(['ok', 'unreachable']),
        migrations: Type.Enum(['ok', 'pending', 'unknown']),
        temporal: Type.Enum(['ok', 'unreachable']),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

async function readiness(services: Services, temporal: TemporalClient): Promise<Static<typeof Readiness>> {
  const [migrations, reachable] = await Promise.all([migrationState(services), temporal.isReachable(CHECK_TIMEOUT_MS)]);
  const ready = migrations === 'ok' && reachable;
  return {
    status: ready ? 'ready' : 'not_ready',
    checks: {
      postgresql: migrations === 'unknown' ? 'unreachable' : 'ok',
      migrations,
      temporal: reachable ? 'ok' : 'unreachable',
    },
  };
}

/** `unknown` when the database does not answer in time. Migrations only ever get done, so the good answer is kept. */
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

export const healthRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    tag: 'Operations',
    summary: 'Whether the process is alive',
    auth: 'public',
    unlimited: true,
    responses: { 200: { description: 'The process answers.', schema: Health, example: { status: 'ok' } } },
    handler: async () => ({ status: 200, body: { status: 'ok' } }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    tag: 'Operations',
    summary: 'Whether everything the service depends on is there',
    auth: 'public',
    unlimited: true,
    responses: {
      200: {
        description: 'Ready to take requests.',
        schema: Readiness,
        example: { status: 'ready', checks: { postgresql: 'ok', migrations: 'ok', temporal: 'ok' } },
      },
      503: {
        description: 'Something is away; `checks` says what.',
        schema: Readiness,
        example: { status: 'not_ready', checks: { postgresql: 'ok', migrations: 'ok', temporal: 'unreachable' } },
      },
    },
    async handler({ services, temporal }) {
      const body = await readiness(services, temporal);
      return { status: body.status === 'ready' ? 200 : 503, body };
    },
  }),
];
