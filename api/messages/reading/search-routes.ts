import type { Static } from 'typebox';
import { type Route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { presentHit } from '#api/messages/present.ts';
import { SearchHitList, SearchQuery, searchExample } from '#api/messages/schema.ts';
import type { Services } from '#core/platform/process/services.ts';
import { readContents } from '#mailstore/messages/message-content.ts';
import { type StoredMessage, searchMessages } from '#mailstore/messages/read-messages.ts';
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

async function answerSearch({ db }: Services, mailboxId: string, query: Static<typeof SearchQuery>) {
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
  return { status: 200, body: listBody(rows, page, presentHit) } as const;
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
    handler: ({ services, query }, { id }) => answerSearch(services, id, query),
  }),
];
