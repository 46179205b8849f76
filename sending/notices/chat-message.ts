/**
 * Notices to the chat webhook of a member, in the formats of incoming webhooks of Slack and Teams: one request, guarded as
 * those of webhook endpoints are.
 */
import { chatUrlPlace } from '#core/accounts/notice-settings.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import {
  dropNotice,
  findApprovalNotice,
  findChatTarget,
  type NoticedConsent,
} from '#db/queries/notices/approval-notices.ts';
import type { MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import { type ApprovalNoticeKind, type ChatForm, isApprovalNotice } from '#domain/sending/approval-notices.ts';
import { approvalSubject, describeRequest } from '#sending/consent/approval-notices.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { RecipientResult } from '#sending/transports/transport.ts';
import { closedConsents } from './approval-mail.ts';

const ITEMS_MAX = 5;

/**
 * One paragraph each. Links lead to pages that ask for a session: a channel has many readers, and some of them are
 * programs.
 */
interface ChatMessage {
  readonly title: string;
  readonly items: readonly { readonly lines: readonly string[]; readonly url: string }[];
  readonly footer: string | null;
}

/** JSON text of a message. */
const chatBody = (form: ChatForm, message: ChatMessage): string =>
  JSON.stringify(form === 'slack' ? slackBody(message) : teamsBody(message));

const approvalChatMessage = (
  kind: ApprovalNoticeKind,
  consents: readonly NoticedConsent[],
  publicUrl: string,
): ChatMessage => ({
  title: approvalSubject(
    kind,
    consents.map(({ subject }) => subject),
  ),
  items: consents.slice(0, ITEMS_MAX).map((consent) => {
    const about = describeRequest(consent, publicUrl);
    return {
      lines: [
        `From ${about.mailbox} to ${about.to}`,
        `Subject: ${about.subject}`,
        ...(about.preview === '' ? [] : [about.preview]),
        `Held: ${about.why}`,
        `${kind === 'approval_expired' ? 'Expired' : 'Expires'} ${about.expires}`,
      ],
      url: about.url,
    };
  }),
  footer: consents.length > ITEMS_MAX ? `${consents.length - ITEMS_MAX} more: ${publicUrl}/approvals` : null,
});

const chatTestMessage = (publicUrl: string): ChatMessage => ({
  title: 'Test of Agent Mailbox: notices about mail that waits for approval will be posted here.',
  items: [{ lines: [], url: `${publicUrl}/approvals` }],
  footer: null,
});

/** `<!channel>`, links with another text and formatting are made by these characters only. */
const slackText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, (character) => `\u200b${character}`);

const slackBody = ({ title, items, footer }: ChatMessage) => ({
  text: [
    `*${slackText(title)}*`,
    ...items.map(({ lines, url }) => [...lines.map(slackText), `<${url}|Open>`].join('\n')),
    ...(footer === null ? [] : [slackText(footer)]),
  ].join('\n\n'),
  unfurl_links: false,
  unfurl_media: false,
});

/** Cards read Markdown. */
const teamsText = (text: string): string => text.replace(/[\\`*_{}[\]()#+!|<>~-]/g, (character) => `\\${character}`);

const textBlock = (text: string, more: object = {}) => ({
  type: 'TextBlock',
  text: teamsText(text),
  wrap: true,
  ...more,
});

const teamsBody = ({ title, items, footer }: ChatMessage) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2',
        body: [
          textBlock(title, { weight: 'Bolder' }),
          ...items.flatMap(({ lines }) =>
            lines.map((line, i) => textBlock(line, { separator: i === 0, spacing: 'Small' })),
          ),
          ...(footer === null ? [] : [textBlock(footer)]),
        ],
        actions: items.map(({ url }, i) => ({
          type: 'Action.OpenUrl',
          title: items.length === 1 ? 'Open' : `Open ${i + 1}`,
          url,
        })),
      },
    },
  ],
});

/** These may pass; every other answer but a success is final. */
const isTemporary = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** @returns undefined: there is nothing to report, or no recipient any more, and the notice is deleted */
export async function sendToChat(
  services: SendingServices,
  chat: Pick<WebhookSender, 'send'>,
  notice: MemberNoticeRow,
): Promise<Pick<RecipientResult, 'kind' | 'reply'> | undefined> {
  const { db, secrets } = services;
  const { kind } = notice;
  const about = isApprovalNotice(kind) ? await findApprovalNotice(db, notice.id) : { memberId: notice.targetId };
  const target = about === undefined ? undefined : await findChatTarget(db, about.memberId);
  const consents =
    target === undefined || !isApprovalNotice(kind) ? [] : await closedConsents(services, notice.id, kind);
  if (target === undefined || (isApprovalNotice(kind) && consents.length === 0)) {
    await dropNotice(db, notice.id);
    return undefined;
  }
  const publicUrl = await publicAddress(services);
  const message = isApprovalNotice(kind) ? approvalChatMessage(kind, consents, publicUrl) : chatTestMessage(publicUrl);
  const result = await chat.send({
    deliveryId: notice.id,
    url: secrets.open(target.urlSealed, chatUrlPlace(target.memberId)),
    eventType: kind,
    payload: chatBody(target.form, message),
    signer: null,
    authHeader: undefined,
  });
  if (result.error === null) return { kind: 'sent', reply: `answered ${result.responseCode}` };
  const reply = oneLine(result.message ?? result.error);
  const final =
    result.error === 'unsafe_destination' || (result.responseCode !== null && !isTemporary(result.responseCode));
  return { kind: final ? 'failed' : 'deferred', reply };
}
