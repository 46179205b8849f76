import type { Static } from 'typebox';
import { getMailbox } from '../../core/mailbox-queries.ts';
import type { Services } from '../../core/services.ts';
import { type Highlight, highlightsOf, wordsOf } from '../../mail/store/highlights.ts';
import { readText, type StoredMessage, searchMessages } from '../../mail/store/read-messages.ts';
import { listBody, pageOf } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { summaryExample } from './examples.ts';
import { presentHit } from './present.ts';
import { MailboxPath, SearchHitList, SearchQuery } from './schema.ts';

const tag = 'Messages';
const SUMMARY = 'Search messages by their words';
const DESCRIPTION =
  'Finds messages whose subject, addresses or text hold all the words of `q`, newest first. `"a phrase"`, `-without` and `or` are understood. A new message can be found within seconds. Mail labelled `unauthenticated` or `spam` is left out unless `folder` is given.';
const responses = {
  200: {
    description: 'A page of messages, with the places where the words stand.',
    schema: SearchHitList,
    example: {
      data: [
        {
          ...summaryExample,
          highlights: [{ text: 'Please send two more of the blue ones.', ranges: [{ start: 28, end: 32 }] }],
        },
      ],
      nextCursor: null,
    },
  },
} as const;

async function answerSearch({ db }: Services, mailboxId: string, query: Static<typeof SearchQuery>) {
  const page = pageOf('message', query);
  const { q, folder } = query;
  const found = await searchMessages(db, mailboxId, { q, ...(folder === undefined ? {} : { folder }) }, page);
  const words = wordsOf(q);
  const rows: { id: string; message: StoredMessage; highlights: Highlight[] }[] = [];
  for (const [i, message] of found.entries()) {
    // The row beyond the page is only there to tell that there is another one.
    const { text } = i < page.limit ? await readText(db, message) : { text: '' };
    rows.push({ id: message.id, message, highlights: highlightsOf(text, words) });
  }
  return { status: 200, body: listBody(rows, page, presentHit) } as const;
}

export const messageSearchRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/search',
    operationId: 'searchMailboxMessages',
    tag,
    summary: SUMMARY,
    description: DESCRIPTION,
    auth: { scope: 'mailbox:read', mailboxToken: true },
    params: MailboxPath,
    query: SearchQuery,
    responses,
    errors: ['not_found'],
    async handler({ services, organization, params, query }) {
      const { id } = await getMailbox(services.db, organization.id, params.id);
      return answerSearch(services, id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages/search',
    operationId: 'searchMessages',
    tag,
    summary: SUMMARY,
    description: `${DESCRIPTION} Of the mailbox whose token is sent.`,
    auth: 'mailbox_token',
    query: SearchQuery,
    responses,
    handler: ({ services, principal, query }) => answerSearch(services, principal.id, query),
  }),
];
