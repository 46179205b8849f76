/** Searching messages by their words, and the code and links found in one. */
import type { Static } from 'typebox';
import type { Route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { inFormat } from '#api/messages/model-format.ts';
import { noteReading, type ReadingRequest } from '#api/messages/note-reading.ts';
import { hitsForModel, presentExtracts, presentHit } from '#api/messages/present.ts';
import { MessageExtracts, OwnMessagePath, SearchHitList, SearchQuery, searchExample } from '#api/messages/schema.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContent, readContents } from '#mailstore/messages/message-content.ts';
import { findMessage, type StoredMessage, searchMessages } from '#mailstore/messages/read-messages.ts';
import { type Highlight, highlightsOf, wordsOf } from '#mailstore/search/search-content.ts';
import { folderOf, requireFolder } from './listed-folder.ts';

const tag = 'Messages';
const responses = {
  200: {
    description: 'A page of messages, with the positions of the words.',
    schema: SearchHitList,
    example: {
      data: [searchExample],
      nextCursor: null,
    },
  },
} as const;

async function answerSearch(request: ReadingRequest, mailboxId: string, query: Static<typeof SearchQuery>) {
  const { db } = request.services;
  const page = pageOf('message', query);
  const { q, folder } = query;
  await requireFolder(db, mailboxId, folder);
  const found = await searchMessages(db, mailboxId, { q, ...folderOf(folder) }, page);
  const words = wordsOf(q);
  // The row beyond the page only shows that there is another page.
  const contents = await readContents(db, found.slice(0, page.limit));
  const rows: { id: string; message: StoredMessage; highlights: Highlight[] }[] = [];
  for (const message of found)
    rows.push({ id: message.id, message, highlights: highlightsOf(contents.get(message.id)?.text ?? '', words) });
  await noteReading(request, found.slice(0, page.limit));
  const body = listBody(rows, page, presentHit);
  return { status: 200, body: inFormat(body, query.format, hitsForModel) } as const;
}

export const messageSearchRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/messages/search',
    operationIds: ['searchMailboxMessages', 'searchMessages'],
    tag,
    summary: 'Search messages by their words',
    description:
      'Finds messages whose subject, addresses or text contain all words of `q`, newest first. `"a phrase"`, `-without` and `or` are supported. A new message can be found within seconds. Mail labelled `unauthenticated` or `spam` is omitted unless `folder` is given.',
    query: SearchQuery,
    responses,
    handler: (request, { id }) => answerSearch(request, id, request.query),
  }),
];

async function answerExtracts(request: ReadingRequest, mailboxId: string, id: string) {
  const { db } = request.services;
  const message = await findMessage(db, mailboxId, id);
  if (message === undefined) throw new CatalogueError('not_found');
  await noteReading(request, [message]);
  return { status: 200, body: presentExtracts(await readContent(db, message)) } as const;
}

export const messageExtractRoutes: readonly Route[] = [
  ...onMailbox({
    tag: 'Messages',
    summary: 'Get the code and the links of a message',
    responses: {
      200: {
        description: 'The code and the links.',
        schema: MessageExtracts,
        example: {
          otp: '482913',
          otpCandidates: [{ code: '482913', confidence: 0.97 }],
          links: [
            {
              url: 'https://shop.example/confirm?t=b1c2',
              text: 'Confirm address',
              kind: 'confirm' as const,
              confidence: 0.98,
            },
          ],
        },
      },
    },
    errors: ['not_found'],
    method: 'GET',
    path: '/messages/:mid/extracts',
    operationIds: ['getMailboxMessageExtracts', 'getMessageExtracts'],
    description:
      'The same as `wait` with `extract=otp,links`, for a stored message. Code and links are untrusted data from the sender.',
    params: OwnMessagePath,
    handler: (request, { id }) => answerExtracts(request, id, request.params.mid),
  }),
];
