import Type, { type Static } from 'typebox';
import { listMemberNotices, type MemberNoticeRow } from '../../db/queries/member-notices.ts';
import { idPattern } from '../../domain/ids.ts';
import {
  MEMBER_NOTICE_KINDS,
  MEMBER_NOTICE_RETENTION_DAYS,
  MEMBER_NOTICE_STATES,
} from '../../domain/member-notices.ts';
import { listBody, listOf, PageQuery, pageOf } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const Notice = closed(
  {
    id: Type.String({ pattern: idPattern('notice') }),
    kind: Type.Enum(MEMBER_NOTICE_KINDS),
    targetId: Type.String({ description: 'Id of what it is about.' }),
    recipient: Type.String(),
    subject: Type.String(),
    text: Type.String(),
    state: Type.Enum(MEMBER_NOTICE_STATES, {
      description:
        '`captured`: this instance sends no mail to other hosts (OUTBOUND_TRANSPORT), so it can be read here only.',
    }),
    attempts: Type.Integer({ minimum: 0 }),
    reply: nullable(Type.String({ description: 'What the other side said last.' })),
    createdAt: dateTime(),
    finishedAt: nullable(dateTime()),
  },
  { title: 'MemberNotice' },
);

const present = (row: MemberNoticeRow): Static<typeof Notice> => ({
  id: row.id,
  kind: row.kind,
  targetId: row.targetId,
  recipient: row.recipient,
  subject: row.subject,
  text: row.text,
  state: row.state,
  attempts: row.attempts,
  reply: row.reply,
  createdAt: row.createdAt.toISOString(),
  finishedAt: row.finishedAt?.toISOString() ?? null,
});

const example = {
  id: 'ntc_01k8e8f2c0e4x9w2v7a3r5t6y8',
  kind: 'webhook_failing',
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
    tag: 'Organization',
    summary: 'List what the service told owners and admins by mail, newest first',
    description: `Each is kept for ${MEMBER_NOTICE_RETENTION_DAYS} days after it was sent, kept on this host or given up.`,
    auth: { role: 'admin' },
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of notices.',
        schema: listOf(Notice),
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
