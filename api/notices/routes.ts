import Type, { type Static } from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, nullable, PageQuery, pageOf, timeOf } from '#api/http/schema-parts.ts';
import { listMemberNotices, type MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { idPattern } from '#domain/ids.ts';
import {
  MEMBER_NOTICE_CHANNELS,
  MEMBER_NOTICE_KINDS,
  MEMBER_NOTICE_RETENTION_DAYS,
  MEMBER_NOTICE_STATES,
} from '#domain/organizations/member-notices.ts';

const Notice = closed(
  {
    id: Type.String({ pattern: idPattern('notice') }),
    kind: Type.Enum(MEMBER_NOTICE_KINDS),
    channel: Type.Enum(MEMBER_NOTICE_CHANNELS, { description: '`chat`: the chat webhook of a member.' }),
    targetId: Type.String({ description: 'Id of the object it is about.' }),
    recipient: Type.String({ description: 'An e-mail address, or the host of a chat webhook.' }),
    subject: Type.String(),
    text: Type.String(),
    state: Type.Enum(MEMBER_NOTICE_STATES, {
      description:
        '`captured`: it can be read here only, because this instance sends no mail to other hosts (OUTBOUND_TRANSPORT) or the address has no mailbox here.',
    }),
    attempts: Type.Integer({ minimum: 0 }),
    reply: nullable(Type.String({ description: 'Last answer of the other host.' })),
    createdAt: dateTime(),
    finishedAt: nullable(dateTime()),
  },
  { title: 'MemberNotice' },
);

const present = (row: MemberNoticeRow): Static<typeof Notice> => ({
  id: row.id,
  kind: row.kind,
  channel: row.channel,
  targetId: row.targetId,
  recipient: row.recipient,
  subject: row.subject,
  text: row.text,
  state: row.state,
  attempts: row.attempts,
  reply: row.reply,
  createdAt: row.createdAt.toISOString(),
  finishedAt: timeOf(row.finishedAt),
});

const example = {
  id: 'ntc_01k8e8f2c0e4x9w2v7a3r5t6y8',
  kind: 'webhook_failing',
  channel: 'mail',
  targetId: 'whe_01k8e8f2c0e4x9w2v7a3r5t6y8',
  recipient: 'ada@example.com',
  subject: 'Webhook endpoint set inactive: hooks.example.com',
  text: 'The webhook endpoint whe_01k8e8f2c0e4x9w2v7a3r5t6y8 of Example, …',
  state: 'sent',
  attempts: 1,
  reply: '250 2.0.0 accepted',
  createdAt: '2026-11-21T09:15:00.000Z',
  finishedAt: '2026-11-21T09:15:00.512Z',
};

export const noticeRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/notices',
    operationId: 'listNotices',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag: 'Organization',
    summary: 'List what the service sent to members and invited people, newest first',
    description: `Each is kept for ${MEMBER_NOTICE_RETENTION_DAYS} days after it was sent, captured or given up. The credentials of links are in the mails only.`,
    auth: { role: 'admin' },
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of notices.',
        schema: listOf(Notice, 'MemberNoticeList'),
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('notice', query);
      const rows = await listMemberNotices(services.db, organization.id, page);
      return { status: 200, body: listBody(rows, page, present) };
    },
  }),
];
