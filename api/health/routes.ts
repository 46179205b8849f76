import Type from 'typebox';
import { readiness } from '../../core/readiness.ts';
import { type Route, route } from '../route.ts';

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
