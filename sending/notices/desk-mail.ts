/**
 * Writes the mail about what waits on the desk at the time of sending: held incoming mail, or the digest of a member.
 *
 * What strangers wrote is in the mail only: never in its subject, and not in the stored notice. An address that this
 * instance hosts gets counts alone, because agents may read it. The mail has no credential: its links ask for a session.
 */
import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { hasDecisionRules, responsibleFor } from '#core/organizations/decision-rules.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import { dropNotice, noticedConsents, writeNoticeText } from '#db/queries/notices/approval-notices.ts';
import {
  type DeskSettings,
  deskCounts,
  extendIncoming,
  findDesk,
  findDeskSettings,
  type WaitingSender,
  waitingRequests,
  waitingSenders,
} from '#db/queries/notices/desk-notices.ts';
import type { MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { HELD_MAIL_RETENTION_DAYS, type HeldReason } from '#domain/mail/screening.ts';
import {
  DESK_NOTICE_ITEMS_MAX,
  DESK_NOTICE_REQUESTS_READ,
  type DeskNoticeKind,
  INCOMING_MAIL_DEFAULT,
  INCOMING_SETTLED_MS,
} from '#domain/sending/desk-notices.ts';
import { describeRequest, shownAddress, shownLine } from '#sending/consent/approval-notices.ts';
import { findConsents } from '#sending/consent/find-consents.ts';
import { type NoticePage, noticeHtml } from '#sending/consent/notice-html.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import type { WrittenNotice } from './approval-mail.ts';

const REASONS: Readonly<Record<HeldReason, string>> = {
  commands_assistant: 'commands an assistant',
  hidden_commands: 'hidden commands',
  smuggled_text: 'invisible text',
  forged_boundary: 'forged boundary',
  lookalike_domain: 'look-alike domain',
  disguised_program: 'program in disguise',
  first_sender: 'unknown sender',
  unlisted_sender: 'not a sender of this alias',
};

const DAY_MS = 86_400_000;

type Block = NoticePage['blocks'][number];

interface DeskMail {
  readonly subject: string;
  /** Counts, without any words of others. */
  readonly opening: readonly string[];
  readonly blocks: readonly Block[];
  readonly more: readonly string[];
  readonly button: NoticePage['button'];
}

const messages = (count: number): string => (count === 1 ? '1 message' : `${count} messages`);

/** @returns undefined: nothing waits any more, or the member was removed, and the notice is deleted */
export async function writeDeskMail(
  services: SendingServices,
  notice: MemberNoticeRow,
  kind: DeskNoticeKind,
): Promise<WrittenNotice | undefined> {
  const { db, settings, now } = services;
  const member = await findDeskSettings(db, notice.targetId);
  const publicUrl = await publicAddress(services);
  const mail =
    member === undefined || (await isSuspended(services, member.organizationId))
      ? undefined
      : kind === 'held_mail'
        ? await incomingMail(services, member, publicUrl)
        : await digestMail(services, member, publicUrl);
  if (member === undefined || mail === undefined) {
    await dropNotice(db, notice.id);
    return undefined;
  }
  if (kind === 'held_mail') await extendIncoming(db, member.memberId, new Date(now() - INCOMING_SETTLED_MS));
  const isHosted = await isHostedAddress(db, settings.MAIL_DOMAIN, [member.organizationId], notice.recipient);
  const { subject, opening, button } = mail;
  const settingsUrl = `${publicUrl}/settings/notices`;
  const footer = [
    ...(isHosted
      ? ['This service stores mail to this address, and agents may read it. Therefore this mail quotes nothing.']
      : mail.more),
    'Sign in to read and to decide. What strangers wrote is quoted in the boxes only.',
  ];
  const blocks = isHosted ? [] : mail.blocks;
  await writeNoticeText(db, notice.id, { subject, text: opening.join('\n'), credentials: null });
  const page = { opening: opening.join(' '), blocks, button, footer, settingsUrl };
  const text = [
    opening.join('\n'),
    ...blocks.map(({ facts, link }) =>
      [...facts.map(([label, value]) => `${label}: ${value}`), ...(link === undefined ? [] : [`  ${link.url}`])].join(
        '\n',
      ),
    ),
    `${button.title}: ${button.url}`,
    ...footer,
    `Change how you are notified: ${settingsUrl}`,
  ].join('\n\n');
  return { subject, text, html: noticeHtml(page), holdsCredential: false };
}

async function isSuspended({ db }: SendingServices, organizationId: string): Promise<boolean> {
  const rows = await db.query(`select 1 from organizations where id = $1 and suspended_at is not null`, [
    organizationId,
  ]);
  return rows.length > 0;
}

const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** One sender. An author whose mail is not proven may be anybody. */
function senderBlock(sender: WaitingSender): Block {
  const { author, proven, messages: count, subject, mailboxAddress, reasons, receivedAt } = sender;
  return {
    facts: [
      ['From', author === '' ? '(no single author)' : `${shownAddress(author)}${proven ? '' : ' (not proven)'}`],
      ['To', mailboxAddress],
      [count === 1 ? 'Subject' : 'Subject of the oldest', shownLine(subject) || '(no subject)'],
      ...(count === 1 ? [] : [['Messages', String(count)] as const]),
      ['Held', reasons.map((reason) => REASONS[reason]).join(', ')],
      ['Arrived', minute(receivedAt)],
    ],
  };
}

interface Incoming {
  readonly total: number;
  readonly blocks: readonly Block[];
  readonly more: readonly string[];
}

const NONE: Incoming = { total: 0, blocks: [], more: [] };

async function incomingOf({ db }: SendingServices, organizationId: string, since: Date | null): Promise<Incoming> {
  const senders = await waitingSenders(db, organizationId, since, DESK_NOTICE_ITEMS_MAX);
  const [first] = senders;
  if (first === undefined) return NONE;
  const others = first.senders - senders.length;
  return {
    total: first.total,
    blocks: senders.map(senderBlock),
    more: others > 0 ? [`${others} more senders are on the page of held mail.`] : [],
  };
}

async function incomingMail(
  services: SendingServices,
  { organizationId, memberId }: DeskSettings,
  publicUrl: string,
): Promise<DeskMail | undefined> {
  const desk = await findDesk(services.db, memberId);
  const { total, blocks, more } = await incomingOf(services, organizationId, desk?.incomingAfter ?? null);
  if (total === 0) return undefined;
  return {
    subject: `Held incoming mail: ${messages(total)}`,
    opening: [
      `${messages(total)} arrived and ${total === 1 ? 'waits' : 'wait'} outside the mailbox until somebody decides.`,
      `What nobody releases is deleted after ${HELD_MAIL_RETENTION_DAYS} days.`,
    ],
    blocks,
    more,
    button: { url: `${publicUrl}/held-mail`, title: 'Open the held mail' },
  };
}

/** Requests that wait for this member: with rules, those for which they name the member now. */
async function outgoingOf(
  { db, now }: SendingServices,
  { organizationId, memberId }: DeskSettings,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  const waiting = await waitingRequests(db, organizationId, new Date(now()), DESK_NOTICE_REQUESTS_READ);
  const ids = waiting.map(({ id }) => id);
  if (!(await hasDecisionRules(db, organizationId))) return { ids, total: waiting[0]?.total ?? 0 };
  const own: string[] = [];
  const requests = new Map((await findConsents(db, organizationId, ids)).map((each) => [each.id, each]));
  for (const id of ids) {
    const request = requests.get(id);
    if (request === undefined) continue;
    const { memberIds } = await responsibleFor(db, organizationId, request, now());
    if (memberIds === null || memberIds.includes(memberId)) own.push(id);
  }
  return { ids: own, total: own.length };
}

async function digestMail(
  services: SendingServices,
  member: DeskSettings,
  publicUrl: string,
): Promise<DeskMail | undefined> {
  const { db, now } = services;
  const { organizationId, memberId } = member;
  const outgoing = await outgoingOf(services, member);
  const wantsIncoming = (member.incoming ?? INCOMING_MAIL_DEFAULT) !== 'none';
  const incoming = wantsIncoming ? await incomingOf(services, organizationId, null) : NONE;
  // Who chose no digest gets one for the sake of incoming mail only.
  if (incoming.total === 0 && (outgoing.total === 0 || member.digest === null)) return undefined;
  const consents = await noticedConsents(db, organizationId, outgoing.ids.slice(0, DESK_NOTICE_ITEMS_MAX));
  const since = (await findDesk(db, memberId))?.digestedBefore ?? new Date(now() - DAY_MS);
  const { decidedByOthers, incomingDecided, stopped } = await deskCounts(
    ...([db, organizationId, memberId, since, DESK_NOTICE_ITEMS_MAX] as const),
  );
  const requests = consents.map((consent): Block => {
    const about = describeRequest(consent, publicUrl);
    return {
      facts: [
        ['Mailbox', about.mailbox],
        ['To', about.to],
        ['Subject', about.subject],
        ['Held', about.why],
        ['Expires', about.expires],
      ],
      link: { url: about.url, title: 'Read and decide' },
    };
  });
  const opening = [
    ...(outgoing.total > 0 ? [`To approve: ${messages(outgoing.total)}.`] : []),
    ...(incoming.total > 0 ? [`Held incoming mail: ${messages(incoming.total)}.`] : []),
    ...(decidedByOthers > 0 ? [`Decided by others since the last digest: ${messages(decidedByOthers)}.`] : []),
    ...(incomingDecided > 0 ? [`Incoming mail decided since then: ${messages(incomingDecided)}.`] : []),
    ...(stopped.length > 0 ? [`Mailboxes whose sending is stopped: ${stopped.length}.`] : []),
  ];
  const others = outgoing.total - requests.length;
  return {
    subject: `Digest: ${messages(outgoing.total + incoming.total)} to decide about`,
    opening,
    blocks: [
      ...requests,
      ...incoming.blocks,
      ...(stopped.length > 0 ? [{ facts: [['Sending is stopped', stopped.join(', ')] as const] }] : []),
    ],
    more: [...(others > 0 ? [`${others} more are on the page of approvals.`] : []), ...incoming.more],
    button:
      outgoing.total > 0
        ? { url: `${publicUrl}/approvals`, title: 'Open the approvals' }
        : { url: `${publicUrl}/held-mail`, title: 'Open the held mail' },
  };
}
