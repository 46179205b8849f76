import Type, { type Static } from 'typebox';
import { DutyHours, TimeZone } from '#api/decision-rules/hours.ts';
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
import type { DutyHours as Hours } from '#domain/sending/decision-rules.ts';
import {
  DIGEST_DAYS,
  DIGEST_DEFAULT,
  INCOMING_MAIL_DEFAULT,
  INCOMING_MAIL_MODES,
  INCOMING_NOTICE_EVERY_MS,
  INCOMING_NOTICES_PER_DAY,
} from '#domain/sending/desk-notices.ts';

const tag = 'Sessions';
const path = '/api/sessions/current/notices';

const Approvals = Type.Enum(APPROVAL_MAIL_MODES, {
  description: `When mail about held messages is sent to you. \`at_once\` (default): the first at once, further ones within ${APPROVAL_DIGEST_MS / 60_000} minutes together; \`hourly\`: together at full hours, UTC; \`none\`.`,
});
const Incoming = Type.Enum(INCOMING_MAIL_MODES, {
  description: `When mail about held incoming mail is sent to you. \`digest\` (default): in the digest; \`at_once\`: all of the last minutes together, at most every ${INCOMING_NOTICE_EVERY_MS / 60_000} minutes and ${INCOMING_NOTICES_PER_DAY} times a day; \`none\`.`,
});
const Digest = closed(
  {
    timeZone: TimeZone,
    hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Of the day there.' }),
    days: Type.Enum(DIGEST_DAYS, { description: '`weekdays`: Monday to Friday.' }),
  },
  {
    title: 'DigestSchedule',
    description: `One mail a day with what waits, outgoing and incoming; none if nothing does. Null: at ${DIGEST_DEFAULT.hour}:00 ${DIGEST_DEFAULT.timeZone}, and only if incoming mail waits that you are not notified of at once.`,
  },
);
const Form = Type.Enum(CHAT_FORMS, { description: 'The kind of incoming webhook: Slack or Teams.' });

const NoticeSettings = closed(
  {
    approvals: Approvals,
    incoming: Incoming,
    digest: nullable(Digest),
    quietHours: nullable(DutyHours),
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
    incoming: Type.Optional(Incoming),
    digest: Type.Optional(nullable(Digest)),
    quietHours: Type.Optional(nullable(DutyHours)),
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
  { title: 'NoticeSettingsChange', description: 'What is omitted does not change.' },
);

const ChatTest = closed({ noticeId: Type.String({ pattern: idPattern('notice') }) }, { title: 'ChatTest' });

const hoursOf = ({ timeZone, days, from, to }: Hours): Static<typeof DutyHours> => ({
  timeZone,
  days: [...days],
  from,
  to,
});

const present = ({
  approvals,
  incoming,
  digest,
  quietHours,
  chat,
}: NoticeSettingsView): Static<typeof NoticeSettings> => ({
  approvals,
  incoming,
  digest: digest === null ? null : { timeZone: digest.timeZone, hour: digest.hour, days: digest.days },
  quietHours: quietHours === null ? null : hoursOf(quietHours),
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
  incoming: INCOMING_MAIL_DEFAULT,
  digest: { timeZone: 'Europe/Berlin', hour: 8, days: 'weekdays' },
  quietHours: { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5, 6, 7], from: '20:00', to: '07:00' },
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
    description:
      'In `quietHours` no mail about held mail is sent to you: it waits, and comes as one when they end. Chats go on, and so does the time after which a rule asks every member.',
    auth: { role: 'member' },
    body: NoticeSettingsChange,
    bodyExample: { approvals: 'hourly', chat: { form: 'slack', url: 'https://hooks.slack.com/services/T0/B0/secret' } },
    responses: { 200: { description: 'Your settings.', schema: NoticeSettings, example } },
    errors: ['invalid_url', 'unresolvable_destination', 'unsafe_destination'],
    async handler({ services, organization, principal, caller, body }) {
      const member = memberOf(organization.id, principal);
      const { chat, ...mail } = body;
      await changeNoticeSettings(services, member, { ...mail, ...(chat === undefined ? {} : { chat }) }, caller);
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
