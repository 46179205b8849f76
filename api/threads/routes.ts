import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import Type, { type Static } from 'typebox';
import { type Route } from '#api/http/route.ts';
import { closed, dateTime, encodeCursor, listOf, MessageId, pageOf, pageQuery } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { inFormat, ListFormat, ModelText } from '#api/messages/model-format.ts';
import { noteReading, noteReadingOf, type ReadingRequest } from '#api/messages/note-reading.ts';
import { presentSummary } from '#api/messages/present.ts';
import { MessageSummary, summaryExample } from '#api/messages/schema.ts';
import { messageLine } from '#client/model-text.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import {
  findThread,
  listThreads,
  type Thread as ThreadRow,
  type ThreadSummary,
} from '#mailstore/messages/read-threads.ts';

const ThreadId = Type.String({ pattern: idPattern('thread'), description: 'Thread id.' });

const OwnThreadPath = closed({ tid: ThreadId });

const summary = {
  id: ThreadId,
  mailboxId: MailboxId,
  subject: Type.String({ description: 'Of the newest message.' }),
  preview: Type.String({ description: 'Of the newest message.' }),
  messageCount: Type.Integer(),
  unreadCount: Type.Integer(),
  senders: Type.Array(Type.String(), { description: 'Who wrote, each once, oldest first, at most 20.' }),
  newestMessageId: MessageId,
  newestAt: dateTime('When the newest message arrived.'),
};

const ThreadSummary = closed(summary, { title: 'ThreadSummary' });
export const ThreadList = listOf(ThreadSummary, 'ThreadList', { modelText: ModelText });
const ThreadsQuery = closed({ ...pageQuery, format: ListFormat });
const ThreadQuery = closed({ format: ListFormat });

export const Thread = closed(
  {
    ...summary,
    messages: Type.Array(MessageSummary, { description: 'Oldest first; at most the newest 200.' }),
    modelText: ModelText,
  },
  { title: 'Thread' },
);

export const threadExample = {
  id: summaryExample.threadId,
  mailboxId: summaryExample.mailboxId,
  subject: 'Re: Order 4711',
  preview: 'They are on their way.',
  messageCount: 2,
  unreadCount: 1,
  senders: ['Ann Example <ann@example.com>'],
  newestMessageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y9',
  newestAt: '2026-11-21T09:31:00.000Z',
};

export const presentThreadSummary = (thread: ThreadSummary) => ({
  id: thread.id,
  mailboxId: thread.mailboxId,
  subject: thread.subject,
  preview: thread.preview,
  messageCount: thread.messageCount,
  unreadCount: thread.unreadCount,
  senders: thread.senders.map(formatAddress),
  newestMessageId: thread.newestMessageId,
  newestAt: thread.newestAt.toISOString(),
});

/** What a model reads of a list. */
export const threadsForModel = ({
  data,
  nextCursor,
}: {
  readonly data: readonly ReturnType<typeof presentThreadSummary>[];
  readonly nextCursor: string | null;
}) => ({ threads: data, nextCursor });

const presentThread = (thread: ThreadRow) => ({
  ...presentThreadSummary(thread),
  messages: thread.messages.map(presentSummary),
});

const tag = 'Threads';

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

async function answerList(request: ReadingRequest, mailboxId: string, query: Static<typeof ThreadsQuery>) {
  const page = pageOf('message', query);
  const rows = await listThreads(request.services.db, mailboxId, page);
  const data = rows.slice(0, page.limit);
  await noteReadingOf(
    request,
    [mailboxId],
    data.map(({ newestMessageId }) => newestMessageId),
  );
  const last = rows.length > page.limit ? data.at(-1) : undefined;
  const nextCursor = last === undefined ? null : encodeCursor(last.newestMessageId);
  const body = { data: data.map(presentThreadSummary), nextCursor };
  return { status: 200, body: inFormat(body, query.format, threadsForModel) } as const;
}

async function answerThread(
  request: ReadingRequest,
  mailboxId: string,
  threadId: string,
  { format }: Static<typeof ThreadQuery>,
) {
  const thread = await findThread(request.services.db, mailboxId, threadId);
  if (thread === undefined) throw new CatalogueError('not_found');
  await noteReading(request, thread.messages);
  const forModel = ({ messages, ...shown }: ReturnType<typeof presentThread>) => ({
    ...shown,
    messages: messages.map(messageLine),
  });
  return { status: 200, body: inFormat(presentThread(thread), format, forModel) } as const;
}

export const threadRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/threads',
    operationIds: ['listMailboxThreads', 'listThreads'],
    tag,
    summary: 'List threads, newest first',
    description: 'Sorted by the newest message of each thread. Mail labelled `unauthenticated` or `spam` is omitted.',
    query: ThreadsQuery,
    responses: listResponses,
    handler: (request, { id }) => answerList(request, id, request.query),
  }),
  ...onMailbox({
    method: 'GET',
    path: '/threads/:tid',
    operationIds: ['getMailboxThread', 'getThread'],
    tag,
    summary: 'Get a thread',
    description: 'Mail labelled `unauthenticated` or `spam` is omitted.',
    params: OwnThreadPath,
    query: ThreadQuery,
    etag: true,
    responses: threadResponses,
    errors: ['not_found'],
    handler: (request, { id }) => answerThread(request, id, request.params.tid, request.query),
  }),
];
