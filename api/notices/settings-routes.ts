import Type, { type Static } from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import {
  changeNoticeSettings,
  type NoticeSettingsView,
  type NotifiedMember,
  noticeSettings,
  writeChatTest,
} from '#core/accounts/notice-settings.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import { MEMBER_NOTICE_STATES } from '#domain/organizations/member-notices.ts';
import {
  APPROVAL_DIGEST_MS,
  APPROVAL_MAIL_DEFAULT,
  APPROVAL_MAIL_MODES,
  CHAT_FORMS,
  CHAT_URL_MAX_CHARACTERS,
} from '#domain/sending/approval-notices.ts';

const tag = 'Sessions';
const path = '/api/sessions/current/notices';

const Approvals = Type.Enum(APPROVAL_MAIL_MODES, {
  description: `When mail about held messages is sent to you. \`at_once\` (default): the first at once, further ones within ${APPROVAL_DIGEST_MS / 60_000} minutes together; \`hourly\`: together at full hours, UTC; \`none\`.`,
});
const Form = Type.Enum(CHAT_FORMS, { description: 'The kind of incoming webhook: Slack or Teams.' });

const NoticeSettings = closed(
  {
    approvals: Approvals,
    chat: nullable(
      closed(
        {
          form: Form,
          host: Type.String({ description: 'Host of the URL. The rest of the URL is secret and is not shown.' }),
          last: nullable(
            closed(
              {
                state: Type.Enum(MEMBER_NOTICE_STATES),
                reply: nullable(Type.String({ description: 'Answer of the other host, or why it was not reached.' })),
                at: dateTime(),
              },
              { title: 'ChatOutcome', description: 'The result of the last message.' },
            ),
          ),
        },
        { title: 'ChatWebhook' },
      ),
    ),
  },
  { title: 'NoticeSettings' },
);

const NoticeSettingsChange = closed(
  {
    approvals: Approvals,
    chat: Type.Optional(
      nullable(
        closed(
          {
            form: Form,
            url: Type.String({
              minLength: 1,
              maxLength: CHAT_URL_MAX_CHARACTERS,
              description: 'The https URL that Slack or Teams gives for an incoming webhook. Stored sealed.',
            }),
          },
          {
            title: 'NewChatWebhook',
            description: 'Omitted: does not change. Null: none. Its messages link to the page for people who sign in.',
          },
        ),
      ),
    ),
  },
  { title: 'NoticeSettingsChange' },
);

const ChatTest = closed({ noticeId: Type.String({ pattern: idPattern('notice') }) }, { title: 'ChatTest' });

const present = ({ approvals, chat }: NoticeSettingsView): Static<typeof NoticeSettings> => ({
  approvals,
  chat:
    chat === null
      ? null
      : {
          form: chat.form,
          host: chat.host,
          last:
            chat.last === null
              ? null
              : { state: chat.last.state, reply: chat.last.reply, at: chat.last.at.toISOString() },
        },
});

const example = {
  approvals: APPROVAL_MAIL_DEFAULT,
  chat: {
    form: 'slack',
    host: 'hooks.slack.com',
    last: { state: 'sent', reply: 'answered 200', at: '2026-11-21T09:15:00.512Z' },
  },
};

/** The member of a session that a role let through. */
function memberOf(organizationId: string, principal: { readonly memberId: string | null }): NotifiedMember {
  if (principal.memberId === null) throw new CatalogueError('forbidden');
  return { organizationId, memberId: principal.memberId };
}

export const noticeSettingsRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path,
    operationId: 'getNoticeSettings',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Get how you are notified of mail that waits for approval',
    description: 'Yours, in this organization.',
    auth: { role: 'member' },
    responses: { 200: { description: 'Your settings.', schema: NoticeSettings, example } },
    async handler({ services, organization, principal }) {
      return { status: 200, body: present(await noticeSettings(services.db, memberOf(organization.id, principal))) };
    },
  }),
  route({
    method: 'PUT',
    path,
    operationId: 'putNoticeSettings',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Choose how you are notified of mail that waits for approval',
    auth: { role: 'member' },
    body: NoticeSettingsChange,
    bodyExample: { approvals: 'hourly', chat: { form: 'slack', url: 'https://hooks.slack.com/services/T0/B0/secret' } },
    responses: { 200: { description: 'Your settings.', schema: NoticeSettings, example } },
    errors: ['invalid_url', 'unresolvable_destination', 'unsafe_destination'],
    async handler({ services, organization, principal, caller, body }) {
      const member = memberOf(organization.id, principal);
      const { approvals, chat } = body;
      await changeNoticeSettings(services, member, { approvals, ...(chat === undefined ? {} : { chat }) }, caller);
      return { status: 200, body: present(await noticeSettings(services.db, member)) };
    },
  }),
  route({
    method: 'POST',
    path: `${path}/test`,
    operationId: 'testChatWebhook',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Send a test message to your chat webhook',
    description: 'The result is in `chat.last` of your settings.',
    auth: { role: 'member' },
    responses: {
      202: {
        description: 'The message is being sent.',
        schema: ChatTest,
        example: { noticeId: 'ntc_01k8e8f2c0e4x9w2v7a3r5t6y8' },
      },
    },
    errors: ['conflict'],
    async handler({ services, temporal, organization, principal }) {
      const notice = await writeChatTest(services, memberOf(organization.id, principal));
      await sendNotices(services, temporal, [notice]);
      return { status: 202, body: { noticeId: notice.id } };
    },
  }),
];
