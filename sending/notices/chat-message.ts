/** Bodies of chat messages, in the formats of incoming webhooks of Slack and Teams. */
import type { NoticedConsent } from '#db/queries/notices/approval-notices.ts';
import type { ApprovalNoticeKind, ChatForm } from '#domain/sending/approval-notices.ts';
import { describeRequest } from '#sending/consent/approval-notice-text.ts';
import { approvalSubject } from '#sending/consent/approval-notices.ts';

const ITEMS_MAX = 5;

/**
 * One paragraph each. Links lead to pages that ask for a session: a channel has many readers, and some of them are
 * programs.
 */
export interface ChatMessage {
  readonly title: string;
  readonly items: readonly { readonly lines: readonly string[]; readonly url: string }[];
  readonly footer: string | null;
}

/** JSON text of a message. */
export const chatBody = (form: ChatForm, message: ChatMessage): string =>
  JSON.stringify(form === 'slack' ? slackBody(message) : teamsBody(message));

export const approvalChatMessage = (
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

export const chatTestMessage = (publicUrl: string): ChatMessage => ({
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
