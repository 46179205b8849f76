/** Messages and threads of all mailboxes of an organization, or of a group of them, in one list. */
import Type, { type Static } from 'typebox';
import { type Principal, reachOf } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, encodeCursor, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { MailboxGroup, MailboxId } from '#api/mailboxes/schema.ts';
import { inFormat, ListFormat } from '#api/messages/model-format.ts';
import { noteReading, noteReadingOf } from '#api/messages/note-reading.ts';
import { hitsForModel, listForModel, presentHit, presentSummary } from '#api/messages/present.ts';
import { ALL_FOLDERS, folderOf, listFilterOf, unknownFolder } from '#api/messages/reading/listed-folder.ts';
import {
  MessageList,
  MessagesQuery,
  SearchHitList,
  SearchQuery,
  searchExample,
  summaryExample,
} from '#api/messages/schema.ts';
import { presentThreadSummary, ThreadList, threadExample, threadsForModel } from '#api/threads/routes.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContents } from '#mailstore/messages/message-content.ts';
import {
  listMessagesAcross,
  listThreadsAcross,
  mailboxesInScope,
  searchMessagesAcross,
  someHasFolder,
} from '#mailstore/messages/read-across.ts';
import { highlightsOf, wordsOf } from '#mailstore/search/search-content.ts';

const auth = { scope: 'mailbox:read' } as const;

const scope = {
  group: Type.Optional(MailboxGroup),
  mailboxId: Type.Optional({
    ...MailboxId,
    description: 'Only this mailbox. Default: all that the credential has access to.',
  }),
};
const AcrossQuery = closed({ ...MessagesQuery.properties, ...scope });
const AcrossSearchQuery = closed({ ...SearchQuery.properties, ...scope });
const AcrossThreadsQuery = closed({ ...PageQuery.properties, format: ListFormat, ...scope });

const OF_ALL =
  'Includes all mailboxes that the credential has access to, those of a `group`, or one (`mailboxId`). Each page examines a limited number of messages. If few of them match the filters, a page may be shorter than `limit` and still have a `nextCursor`.';

interface Asker {
  readonly services: Services;
  readonly organization: { readonly id: string };
  readonly principal: Principal;
}

/** @throws {CatalogueError} not_found, for one mailbox that the credential does not reach */
async function mailboxesOf(
  { services: { db }, organization, principal }: Asker,
  { group, mailboxId }: { group?: string; mailboxId?: string },
): Promise<string[]> {
  const inReach = { organizationId: organization.id, reach: reachOf(principal) };
  // Without the group first: with it, an answer would tell which mailboxes exist out of reach.
  if (mailboxId !== undefined && (await mailboxesInScope(db, { ...inReach, mailboxId })).length === 0)
    throw new CatalogueError('not_found');
  return mailboxesInScope(db, {
    ...inReach,
    ...(group === undefined ? {} : { group }),
    ...(mailboxId === undefined ? {} : { mailboxId }),
  });
}

async function requireSomeFolder({ db }: Services, mailboxIds: readonly string[], name: string | undefined) {
  if (name === undefined || name === ALL_FOLDERS || mailboxIds.length === 0) return;
  if (!(await someHasFolder(db, mailboxIds, name))) throw unknownFolder(name, 'None of the mailboxes has');
}

const cursorOf = (next: string | null): string | null => (next === null ? null : encodeCursor(next));

export const acrossRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/messages',
    operationId: 'listMessagesOfMailboxes',
    tag: 'Messages',
    summary: 'List messages of all mailboxes, newest first',
    description: `${OF_ALL} The filters are those of the list of one mailbox: it shows INBOX unless \`folder\` or \`label\` is given.`,
    auth,
    limitedKeys: true,
    query: AcrossQuery,
    responses: {
      200: {
        description: 'A page of messages; each names its mailbox.',
        schema: MessageList,
        example: { data: [summaryExample], nextCursor: null },
      },
    },
    errors: ['not_found'],
    async handler(request) {
      const { services, query } = request;
      const page = pageOf('message', query);
      const mailboxIds = await mailboxesOf(request, query);
      await requireSomeFolder(services, mailboxIds, query.folder);
      const { rows, next } = await listMessagesAcross(services.db, mailboxIds, listFilterOf(query), page);
      await noteReading(request, rows);
      const body = { data: rows.map(presentSummary), nextCursor: cursorOf(next) };
      return { status: 200, body: inFormat(body, query.format, listForModel) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/messages/search',
    operationId: 'searchMessagesOfMailboxes',
    tag: 'Messages',
    summary: 'Search messages of all mailboxes by their words',
    description:
      'Searches all mailboxes that the credential has access to, those of a `group`, or one (`mailboxId`), like the search in one mailbox.',
    auth,
    limitedKeys: true,
    query: AcrossSearchQuery,
    responses: {
      200: {
        description: 'A page of messages, with the positions of the words.',
        schema: SearchHitList,
        example: { data: [searchExample], nextCursor: null },
      },
    },
    errors: ['not_found'],
    async handler(request) {
      const { services, query } = request;
      const page = pageOf('message', query);
      const mailboxIds = await mailboxesOf(request, query);
      await requireSomeFolder(services, mailboxIds, query.folder);
      const { rows, next } = await searchMessagesAcross(services.db, mailboxIds, searchOf(query), page);
      await noteReading(request, rows);
      const words = wordsOf(query.q);
      const contents = await readContents(services.db, rows);
      const data = rows.map((message) =>
        presentHit({ message, highlights: highlightsOf(contents.get(message.id)?.text ?? '', words) }),
      );
      return { status: 200, body: inFormat({ data, nextCursor: cursorOf(next) }, query.format, hitsForModel) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/threads',
    operationId: 'listThreadsOfMailboxes',
    tag: 'Threads',
    summary: 'List threads of all mailboxes, newest first',
    description: `${OF_ALL} A thread belongs to one mailbox; its messages are at \`/api/mailboxes/:id/threads/:tid\`.`,
    auth,
    limitedKeys: true,
    query: AcrossThreadsQuery,
    responses: {
      200: {
        description: 'A page of threads.',
        schema: ThreadList,
        example: { data: [threadExample], nextCursor: null },
      },
    },
    errors: ['not_found'],
    async handler(request) {
      const { services, query } = request;
      const mailboxIds = await mailboxesOf(request, query);
      const { rows, next } = await listThreadsAcross(services.db, mailboxIds, pageOf('message', query));
      await noteReadingOf(
        request,
        mailboxIds,
        rows.map(({ newestMessageId }) => newestMessageId),
      );
      const body = { data: rows.map(presentThreadSummary), nextCursor: cursorOf(next) };
      return { status: 200, body: inFormat(body, query.format, threadsForModel) };
    },
  }),
];

const searchOf = ({ q, folder }: Static<typeof AcrossSearchQuery>) => ({ q, ...folderOf(folder) });
