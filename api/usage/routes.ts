import Type from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { usage } from '#core/organizations/usage.ts';
import { CatalogueError } from '#domain/errors.ts';
import { PLANS } from '#domain/organizations/plans.ts';

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 92;
/** Days before have no usage, and the outermost ones of the calendar no neighbours that can be written. */
const FIRST_DAY_MS = Date.UTC(2001, 0, 1);
const LAST_DAY_MS = Date.UTC(2999, 11, 31);

const day = (description: string) => Type.String({ format: 'date', description });

const UsageQuery = closed({
  from: Type.Optional(day(`First day, UTC (default: ${DAYS_DEFAULT} days up to \`to\`).`)),
  to: Type.Optional(day('Last day, UTC (default: today).')),
});

const Usage = closed(
  {
    from: day('First day, UTC.'),
    to: day('Last day, UTC.'),
    current: closed(
      {
        mailboxes: Type.Integer(),
        mailboxLimit: nullable(Type.Integer()),
        messages: Type.Integer(),
        storageBytes: Type.Integer(),
      },
      { title: 'CurrentUsage' },
    ),
    days: Type.Array(
      closed(
        {
          date: day('UTC.'),
          mailboxes: Type.Integer({ description: 'Number at the end of the day.' }),
          messagesIn: Type.Integer(),
          messagesOut: Type.Integer(),
          messageBytes: Type.Integer({ description: 'Bytes of the messages of the day.' }),
          deliveries: closed(
            {
              pending: Type.Integer(),
              success: Type.Integer(),
              failed: Type.Integer(),
              exhausted: Type.Integer(),
            },
            {
              title: 'DeliveriesOfDay',
              description: 'Webhook deliveries of the day by their status now; kept for 30 days.',
            },
          ),
        },
        { title: 'UsageDay' },
      ),
    ),
  },
  { title: 'Usage' },
);

/** Bounds of the days asked for. @throws {CatalogueError} invalid_request */
function daysAsked(query: { from?: string; to?: string }, nowMs: number): { fromMs: number; toMs: number } {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const last = query.to === undefined ? today : Date.parse(query.to);
  const fromMs = query.from === undefined ? last - (DAYS_DEFAULT - 1) * DAY_MS : Date.parse(query.from);
  if (last < FIRST_DAY_MS || last > LAST_DAY_MS)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: 'query/to', message: 'must be between 2001 and 2999' }],
    });
  const days = (last - fromMs) / DAY_MS + 1;
  if (days >= 1 && days <= DAYS_MAX) return { fromMs, toMs: last + DAY_MS };
  throw new CatalogueError('invalid_request', undefined, {
    details: [{ path: 'query/from', message: `must be before to, and at most ${DAYS_MAX} days before` }],
  });
}

export const usageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/usage',
    operationId: 'getUsage',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag: 'Usage',
    summary: 'Mailboxes, storage, messages and deliveries, now and by day',
    auth: { scope: 'org:read' },
    query: UsageQuery,
    responses: {
      200: {
        description: 'What the organization uses.',
        schema: Usage,
        example: {
          from: '2026-11-21',
          to: '2026-11-21',
          current: { mailboxes: 2, mailboxLimit: 50, messages: 17, storageBytes: 90_112 },
          days: [
            {
              date: '2026-11-21',
              mailboxes: 2,
              messagesIn: 12,
              messagesOut: 5,
              messageBytes: 90_112,
              deliveries: { pending: 0, success: 14, failed: 1, exhausted: 0 },
            },
          ],
        },
      },
    },
    async handler({ services, organization, query }) {
      const { fromMs, toMs } = daysAsked(query, services.now());
      const used = await usage(services.db, organization.id, fromMs, toMs);
      return {
        status: 200,
        body: {
          from: new Date(fromMs).toISOString().slice(0, 10),
          to: new Date(toMs - DAY_MS).toISOString().slice(0, 10),
          current: {
            mailboxes: used.mailboxes,
            mailboxLimit: PLANS[organization.plan].maxMailboxes,
            messages: used.messages,
            storageBytes: used.storageBytes,
          },
          days: used.days.map((each) => ({ ...each, deliveries: { ...each.deliveries } })),
        },
      };
    },
  }),
];
