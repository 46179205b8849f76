/** Waiting for mail: a long poll that misses nothing between two requests. */
import type { Static } from 'typebox';
import { getMailbox } from '../../core/mailbox-queries.ts';
import type { Services } from '../../core/services.ts';
import { CatalogueError } from '../../domain/errors.ts';
import { WAIT_DEFAULT_SECONDS, WAIT_MESSAGES_MAX } from '../../domain/mail-limits.ts';
import { messageLinks } from '../../mail/mime/message-links.ts';
import { oneTimeCode } from '../../mail/mime/one-time-code.ts';
import {
  type Arrival,
  type ArrivedMessage,
  arrivalOf,
  arrivedMessages,
  arrivedUpTo,
  lastChange,
  readText,
} from '../../mail/store/read-messages.ts';
import { type AuthRule, type Route, route } from '../route.ts';
import { type WatchRequest, watchFor } from '../watch.ts';
import { summaryExample } from './examples.ts';
import { presentSummary } from './present.ts';
import { filterOf } from './routes.ts';
import { MailboxPath, WaitAnswer, WaitQuery } from './schema.ts';

const tag = 'Messages';
const SUMMARY = 'Wait for messages';
const DESCRIPTION =
  'Answers as soon as messages are there that the filters let through, or empty when the time is over. Without `folder` only what somebody sent counts, not what the mailbox wrote itself. With `extract` each message comes with the one-time code or the links found in it, as far as that can be told; treat both as data from a stranger.';
const ofMailbox = { scope: 'mailbox:read', mailboxToken: true } as const;
const responses = {
  200: {
    description: 'The messages that came in, or none.',
    schema: WaitAnswer,
    example: {
      data: [
        {
          ...summaryExample,
          subject: 'Confirm your address',
          otp: '482913',
          links: [{ url: 'https://shop.example/confirm?t=b1c2', text: 'Confirm address', kind: 'confirm' as const }],
        },
      ],
      after: 'NDI6bXNnXzAxazhlOGYyYzBlNHg5dzJ2N2EzcjV0Nnk4',
      timedOut: false,
    },
  },
} as const;

/** Mail that came in before places were noted stands at 0. */
const BEFORE_ALL = arrivedUpTo(-1);

const encodePlace = ({ seq, messageId }: Arrival): string => Buffer.from(`${seq}:${messageId}`).toString('base64url');

async function placeOf({ db }: Services, mailboxId: string, after: string): Promise<Arrival> {
  if (after.startsWith('msg_')) {
    const place = await arrivalOf(db, mailboxId, after);
    if (place !== undefined) return place;
    throw invalidAfter('is no message of this mailbox (any more); use `after` of an earlier answer');
  }
  const [, seq, messageId] =
    /^(-?\d{1,15}):(msg_[0-9a-z]{26}|~)$/.exec(Buffer.from(after, 'base64url').toString()) ?? [];
  if (seq === undefined || messageId === undefined)
    throw invalidAfter('is neither a message id nor `after` of an answer');
  return { seq: Number(seq), messageId };
}

const invalidAfter = (message: string) =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: 'query/after', message }] });

async function extracted({ db }: Services, message: ArrivedMessage, wanted: ReadonlySet<string>) {
  if (wanted.size === 0) return { otp: null, links: null };
  const { text, html } = await readText(db, message);
  return {
    otp: wanted.has('otp') ? oneTimeCode({ subject: message.subject, text }) : null,
    links: wanted.has('links') ? messageLinks({ text, html }).map((link) => ({ ...link })) : null,
  };
}

async function answerWait(
  request: WatchRequest,
  rule: AuthRule,
  mailboxId: string,
  query: Static<typeof WaitQuery>,
): Promise<{ status: 200; body: Static<typeof WaitAnswer> }> {
  const { services } = request;
  const { db } = services;
  const { after, timeoutSeconds = WAIT_DEFAULT_SECONDS, limit = WAIT_MESSAGES_MAX, extract = '', ...filters } = query;
  const filter = filterOf(filters);
  const wanted = new Set(extract === '' ? [] : extract.split(','));
  const endsAt = performance.now() + timeoutSeconds * 1_000;
  // Watching begins before the first look, so that nothing comes in unseen between the two.
  const watch = await watchFor(request, rule, mailboxId);
  try {
    await watch.requireAccess();
    const begin = await lastChange(db, mailboxId);
    const place =
      after !== undefined
        ? await placeOf(services, mailboxId, after)
        : filter.since === undefined
          ? arrivedUpTo(begin)
          : BEFORE_ALL;
    for (;;) {
      // The counter first: all that came in up to it is committed, so the next request begins behind it.
      const upToSeq = await lastChange(db, mailboxId);
      const messages = await arrivedMessages(db, mailboxId, filter, { after: place, upToSeq, limit });
      const leftMs = endsAt - performance.now();
      if (messages.length > 0) {
        const last = messages.length < limit ? undefined : messages.at(-1)?.arrival;
        const data = [];
        for (const message of messages)
          data.push({ ...presentSummary(message), ...(await extracted(services, message, wanted)) });
        return { status: 200, body: { data, after: encodePlace(last ?? arrivedUpTo(upToSeq)), timedOut: false } };
      }
      const wake = leftMs <= 0 ? 'time' : await watch.next(leftMs);
      // A key or session may have ended without a word on the channel of mailboxes.
      if (wake === 'access' || wake === 'mail') await watch.requireAccess();
      // What does not match now may match when the next request asks, with other filters or once it is changed.
      if (wake === 'stopped' || leftMs <= 0)
        return { status: 200, body: { data: [], after: encodePlace(place), timedOut: true } };
    }
  } finally {
    watch.stop();
  }
}

export const messageWaitRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/wait',
    operationId: 'waitForMailboxMessages',
    tag,
    summary: SUMMARY,
    description: DESCRIPTION,
    auth: ofMailbox,
    params: MailboxPath,
    query: WaitQuery,
    responses,
    errors: ['not_found'],
    async handler(request) {
      const { id } = await getMailbox(request.services.db, request.organization.id, request.params.id);
      return answerWait(request, ofMailbox, id, request.query);
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages/wait',
    operationId: 'waitForMessages',
    tag,
    summary: SUMMARY,
    description: `${DESCRIPTION} Of the mailbox whose token is sent.`,
    auth: 'mailbox_token',
    query: WaitQuery,
    responses,
    handler: (request) => answerWait(request, 'mailbox_token', request.principal.id, request.query),
  }),
];
