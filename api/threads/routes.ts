import type { Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { encodeCursor, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { summaryExample } from '#api/messages/examples.ts';
import { MailboxPath } from '#api/messages/schema.ts';
import type { Services } from '#core/platform/process/services.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { findThread, listThreads } from '#mailstore/messages/read-threads.ts';
import { threadExample } from './examples.ts';
import { presentThread, presentThreadSummary } from './present.ts';
import { MailboxThreadPath, OwnThreadPath, Thread, ThreadList } from './schema.ts';

const tag = 'Threads';
const ofMailbox = { scope: 'mailbox:read', mailboxToken: true } as const;
const OF_TOKEN = ' The mailbox is that of the token.';

const listResponses = {
  200: {
    description: 'A page of threads.',
    schema: ThreadList,
    example: { data: [threadExample], nextCursor: null },
  },
} as const;
const threadResponses = {
  200: {
    description: 'The thread with its messages.',
    schema: Thread,
    example: { ...threadExample, messages: [summaryExample] },
  },
} as const;

const LIST_SUMMARY = 'List threads, newest first';
const LIST_DESCRIPTION =
  'Sorted by the newest message of each thread. Mail labelled `unauthenticated` or `spam` is omitted.';
const GET_SUMMARY = 'Get a thread';
const GET_DESCRIPTION = 'Mail labelled `unauthenticated` or `spam` is omitted.';

async function answerList({ db }: Services, mailboxId: string, query: Static<typeof PageQuery>) {
  const page = pageOf('message', query);
  const rows = await listThreads(db, mailboxId, page);
  const data = rows.slice(0, page.limit);
  const last = rows.length > page.limit ? data.at(-1) : undefined;
  const nextCursor = last === undefined ? null : encodeCursor(last.newestMessageId);
  return { status: 200, body: { data: data.map(presentThreadSummary), nextCursor } } as const;
}

async function answerThread({ db }: Services, mailboxId: string, threadId: string) {
  const thread = await findThread(db, mailboxId, threadId);
  if (thread === undefined) throw new CatalogueError('not_found');
  return { status: 200, body: presentThread(thread) } as const;
}

export const threadRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/threads',
    operationId: 'listMailboxThreads',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxPath,
    query: PageQuery,
    responses: listResponses,
    errors: ['not_found'],
    async handler({ services, organization, params, query }) {
      const { id } = await requireMailbox(services.db, organization.id, params.id);
      return answerList(services, id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/threads/:tid',
    operationId: 'getMailboxThread',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxThreadPath,
    etag: true,
    responses: threadResponses,
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const { id } = await requireMailbox(services.db, organization.id, params.id);
      return answerThread(services, id, params.tid);
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/threads',
    operationId: 'listThreads',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    query: PageQuery,
    responses: listResponses,
    handler: ({ services, principal, query }) => answerList(services, principal.id, query),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/threads/:tid',
    operationId: 'getThread',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnThreadPath,
    etag: true,
    responses: threadResponses,
    errors: ['not_found'],
    handler: ({ services, principal, params }) => answerThread(services, principal.id, params.tid),
  }),
];
