import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { CHECK_STATES, type CheckName } from '#core/process/readiness.ts';

const FOR_SUPERVISORS = 'Asked by load balancers and supervisors, not by customers.';

const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health', additionalProperties: false });

const NAMES = Object.keys(CHECK_STATES) as CheckName[];

const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    process: Type.Enum(['api', 'worker', 'mail', 'all'], { description: 'Each process checks only what it needs.' }),
    checks: Type.Object(
      {
        postgresql: Type.Enum(CHECK_STATES.postgresql),
        migrations: Type.Enum(CHECK_STATES.migrations),
        temporal: Type.Enum(CHECK_STATES.temporal),
        worker: Type.Optional(Type.Enum(CHECK_STATES.worker)),
        secretsKeys: Type.Enum(CHECK_STATES.secretsKeys),
        databaseSettings: Type.Enum(CHECK_STATES.databaseSettings, {
          description: 'Whether settings of the PostgreSQL server harm the service; `problems` has each of them.',
        }),
        dataFolder: Type.Optional(Type.Enum(CHECK_STATES.dataFolder)),
        certificate: Type.Optional(Type.Enum(CHECK_STATES.certificate)),
      },
      { title: 'ReadinessChecks', additionalProperties: false },
    ),
    problems: Type.Array(
      Type.Object(
        {
          check: Type.Enum(NAMES),
          state: Type.String(),
          blocking: Type.Boolean({
            description: 'Whether it makes the process not ready. Otherwise it is a warning.',
          }),
          message: Type.String(),
        },
        { title: 'ReadinessProblem', additionalProperties: false },
      ),
      { description: 'The checks that are not `ok`; of `databaseSettings` each setting that harms.' },
    ),
  },
  { title: 'Readiness', additionalProperties: false },
);

const OK = { postgresql: 'ok', migrations: 'ok', temporal: 'ok', secretsKeys: 'ok', databaseSettings: 'ok' } as const;

export const healthRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    withoutCall: { client: FOR_SUPERVISORS },
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
    withoutCall: { client: FOR_SUPERVISORS },
    tag: 'Operations',
    summary: 'Whether the process can do its work',
    auth: 'public',
    unlimited: true,
    responses: {
      200: {
        description: 'Ready to take requests. `problems` may have warnings.',
        schema: Readiness,
        example: { status: 'ready', process: 'api', checks: OK, problems: [] },
      },
      503: {
        description: 'Something the process needs is unavailable; `problems` says what.',
        schema: Readiness,
        example: {
          status: 'not_ready',
          process: 'api',
          checks: { ...OK, postgresql: 'read_only' },
          problems: [
            {
              check: 'postgresql',
              state: 'read_only',
              blocking: true,
              message: 'PostgreSQL accepts no writes: it is read-only or a standby.',
            },
          ],
        },
      },
    },
    async handler({ readiness }) {
      const body = await readiness.current();
      const answer: Static<typeof Readiness> = { ...body, problems: [...body.problems] };
      return { status: body.status === 'ready' ? 200 : 503, body: answer };
    },
  }),
];
