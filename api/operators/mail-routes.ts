/** Mail across tenants: every step of it, and outgoing mail that waits. Envelopes only. */
import Type from 'typebox';
import { controlQueue, type QueueAction } from '#administration/mail/control-queue.ts';
import { FOUND_MAIL_MAX, findMail } from '#administration/mail/find-mail.ts';
import { readQueue } from '#administration/mail/read-queue.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, MessageId, nullable } from '#api/http/schema-parts.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { OperatorMailStep, OperatorQueuedMail, presentMailStep, presentQueued } from './schema.ts';

const tag = 'Operators';
const DAY_MS = 86_400_000;
const QUEUE_DEFAULT = 100;
const QUEUE_MAX = 1_000;
/** One request looks at so many: an answer must not take minutes. */
const CHANGED_AT_ONCE = 1_000;
const NAME_MAX = 320;

const ACTIONS = ['hold', 'release', 'retry', 'drop'] as const satisfies readonly QueueAction[];

const stepExample = {
  at: '2026-11-21T09:15:00.000Z',
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  organizationId: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  step: 'attempt',
  outcome: 'deferred',
  from: 'orders@agents.example.com',
  to: ['ada@example.org'],
  messageId: '<a1b2@agents.example.com>',
  details: { destination: 'example.org', attempt: 1, reply: '451 4.7.1 Greylisted' },
};

const queuedExample = {
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  organizationId: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  state: 'sending',
  from: 'orders@agents.example.com',
  submittedAt: '2026-11-21T09:15:00.000Z',
  messageId: '<a1b2@agents.example.com>',
  recipients: [
    { address: 'ada@example.org', nextAttemptAt: '2026-11-21T09:30:00.000Z', reply: '451 4.7.1 Greylisted' },
  ],
};

export const operatorMailRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/operator/mail',
    operationId: 'findOperatorMail',
    tag,
    summary: 'Find a mail across tenants, and every step of it',
    description: `For the operator of the instance. Refused mail and failed logins of the last ${MAIL_REFUSAL_RETENTION_DAYS} days are found too. At most ${FOUND_MAIL_MAX} messages and as many refusals, the newest; narrow the time if there are more. Never shows content.`,
    auth: 'instance',
    query: closed({
      about: Type.String({
        minLength: 1,
        maxLength: NAME_MAX,
        description:
          'Address of a sender, recipient or mailbox; Message-ID; id of a message, session, request or client address.',
      }),
      since: Type.Optional(
        dateTime(`From this time on; default: ${MAIL_REFUSAL_RETENTION_DAYS} days before \`until\`.`),
      ),
      until: Type.Optional(dateTime('Up to this time; default: now.')),
    }),
    responses: {
      200: {
        description: 'Steps, oldest first.',
        schema: closed(
          {
            steps: Type.Array(OperatorMailStep),
            more: Type.Boolean({ description: 'There are more than are shown.' }),
          },
          { title: 'OperatorFoundMail' },
        ),
        example: { steps: [stepExample], more: false },
      },
    },
    async handler({ services, query }) {
      const until = query.until === undefined ? new Date(services.now()) : new Date(query.until);
      const since =
        query.since === undefined
          ? new Date(until.getTime() - MAIL_REFUSAL_RETENTION_DAYS * DAY_MS)
          : new Date(query.since);
      if (since > until)
        throw new CatalogueError('invalid_request', undefined, {
          details: [{ path: 'query/since', message: 'must not be after until' }],
        });
      const { steps, more } = await findMail(services.db, query.about, { since, until });
      return { status: 200, body: { steps: steps.map(presentMailStep), more } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/queue',
    operationId: 'listOperatorQueue',
    tag,
    summary: 'Outgoing mail of all tenants that is not finished',
    description: 'For the operator of the instance. The oldest first, with open recipients. Never shows content.',
    auth: 'instance',
    query: closed({
      to: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: NAME_MAX,
          description: 'Only with an open recipient of this domain or address.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: QUEUE_MAX, description: `Messages at most (default ${QUEUE_DEFAULT}).` }),
      ),
    }),
    responses: {
      200: {
        description: 'The queue.',
        schema: closed(
          {
            count: Type.Integer({ description: 'Messages that wait, also those that are not shown.' }),
            messages: Type.Array(OperatorQueuedMail),
          },
          { title: 'OperatorQueue' },
        ),
        example: { count: 1, messages: [queuedExample] },
      },
    },
    async handler({ services, query }) {
      const { count, messages } = await readQueue(
        services.db,
        query.to?.toLowerCase() ?? null,
        query.limit ?? QUEUE_DEFAULT,
      );
      return { status: 200, body: { count, messages: messages.map(presentQueued) } };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/operator/queue',
    operationId: 'controlOperatorQueue',
    tag,
    summary: 'Hold, release, retry or drop outgoing mail that waits',
    description: `For the operator of the instance. \`hold\`: nothing of it is sent until it is released; \`retry\`: the next attempt is due at once; \`drop\`: it ends, which cannot be undone. The audit log of the organization has an entry for each message. Safe to repeat. A request looks at about ${CHANGED_AT_ONCE} messages; while \`next\` is not null, repeat it with \`after\`.`,
    auth: 'instance',
    body: closed(
      {
        action: Type.Enum([...ACTIONS]),
        about: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: NAME_MAX,
            description: 'Id of a message; address of the sender or of an open recipient; or domain of one.',
          }),
        ),
        organization: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Id or slug.' })),
        after: Type.Optional(MessageId),
        yes: Type.Optional(Type.Literal(true, { description: 'Needed for `drop`.' })),
      },
      { title: 'ControlOperatorQueue', description: 'With `about`, `organization`, or both.' },
    ),
    bodyExample: { action: 'drop', about: 'example.org', yes: true },
    responses: {
      200: {
        description: 'What changed; others were so already, or do not wait any more.',
        schema: closed({ changed: Type.Array(MessageId), next: nullable(MessageId) }, { title: 'OperatorQueueChange' }),
        example: { changed: ['msg_01k8e8f2c0e4x9w2v7a3r5t6y8'], next: null },
      },
    },
    errors: ['not_found'],
    async handler({ services, temporal, caller, body }) {
      const { action, about, organization, after, yes } = body;
      if (about === undefined && organization === undefined)
        throw new CatalogueError('invalid_request', 'Say which mail.', {
          fix: 'Send about (an id, an address or a domain), organization, or both.',
        });
      if (action === 'drop' && yes !== true)
        throw new CatalogueError('invalid_request', 'Dropping cannot be undone.', {
          fix: 'Look with GET /api/operator/queue, then send it again with "yes": true.',
        });
      const filter = {
        about: about?.toLowerCase() ?? null,
        organizationId: organization === undefined ? null : await organizationId(services, organization),
        ...(after === undefined ? {} : { after }),
      };
      const { changed, next } = await controlQueue(
        { services, temporal, caller, max: CHANGED_AT_ONCE, onPortion: () => {} },
        action,
        filter,
      );
      return { status: 200, body: { changed, next } };
    },
  }),
];

async function organizationId({ db }: Pick<Services, 'db'>, given: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(`select id from organizations where id = $1 or slug = $1`, [given]);
  if (row === undefined) throw new CatalogueError('not_found', `There is no organization ${given}.`);
  return row.id;
}
