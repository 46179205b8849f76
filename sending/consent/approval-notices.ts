/**
 * Notices about held mail, to members who may decide: each is written with the change it is about, collects other held
 * messages until it is sent, and is sent by the workflow of notices (`sending/notices/send-member-notice.ts`).
 *
 * What a notice about held mail says. Text that an agent or a stranger wrote is always on one line of its own.
 */

import { approvalPageUrl } from '#core/accounts/approval-links.ts';
import { hasDecisionRules, responsibleFor } from '#core/organizations/decision-rules.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import {
  type ApprovalNoticeTarget,
  addToOpenNotices,
  lastNoticesOf,
  membersToNotify,
  type NoticedConsent,
  type NotifiedMember,
  takeReminder,
  waitingNoticesAbout,
} from '#db/queries/notices/approval-notices.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import type { MemberNoticeChannel } from '#domain/organizations/member-notices.ts';
import {
  APPROVAL_DIGEST_ITEMS_MAX,
  APPROVAL_MAIL_DEFAULT,
  type ApprovalNoticeKind,
  noticeAtMs,
  reminderAtMs,
} from '#domain/sending/approval-notices.ts';
import { heldBecauseSentence } from '#domain/sending/consent.ts';
import type { Responsible } from '#domain/sending/decision-rules.ts';
import { findConsent } from './find-consents.ts';
import type { NoticePage } from './notice-html.ts';

/** A request for consent for a notice. */
interface NoticedRequest {
  readonly organizationId: string;
  readonly consentId: string;
  readonly subject: string;
}

const SUBJECTS = {
  approval_request: 'Approval needed',
  approval_reminder: 'Approval needed within a day',
  approval_expired: 'Expired without approval',
} as const satisfies Record<ApprovalNoticeKind, string>;

/** Subject of a notice. @param subjects of the messages it is about; null: it must not show them */
export function approvalSubject(kind: ApprovalNoticeKind, subjects: readonly string[] | null): string {
  if (subjects === null) return SUBJECTS[kind];
  const [only = ''] = subjects;
  const about = subjects.length === 1 ? oneLine(only) || '(no subject)' : `${subjects.length} messages`;
  return `${SUBJECTS[kind]}: ${about}`;
}

/**
 * Adds a request to the next notice of each member who may decide about it now, by mail and by chat as the member chose. Call it in the transaction
 * of the change; `waitingNoticesAbout` finds the notices to start after the commit.
 */
export async function writeApprovalNotices(
  sql: Sql,
  kind: ApprovalNoticeKind,
  request: NoticedRequest,
  nowMs: number,
): Promise<void> {
  const members = await membersWhoDecide(sql, request, nowMs);
  const last = await lastNoticesOf(
    sql,
    members.map(({ memberId }) => memberId),
    kind,
  );
  const targets: ApprovalNoticeTarget[] = [];
  const add = (memberId: string, channel: MemberNoticeChannel, recipient: string, mode: 'at_once' | 'hourly') => {
    const before = last.find((each) => each.memberId === memberId && each.channel === channel);
    const sendAt = new Date(noticeAtMs(mode, before?.sendAt.getTime(), nowMs));
    targets.push({ noticeId: newId('notice', nowMs), memberId, channel, recipient, sendAt });
  };
  for (const { memberId, email, approvals, chatHost } of members) {
    const mode = approvals ?? APPROVAL_MAIL_DEFAULT;
    if (mode !== 'none') add(memberId, 'mail', email, mode);
    if (chatHost !== null) add(memberId, 'chat', chatHost, 'at_once');
  }
  if (targets.length === 0) return;
  await addToOpenNotices(
    sql,
    { ...request, kind, subject: approvalSubject(kind, [request.subject]) },
    targets,
    new Date(nowMs),
  );
}

/**
 * Writes the reminders of a request once their time has come.
 *
 * @returns when they are due, in milliseconds since 1970; undefined: they are written, or there are none
 */
export async function remindInTime(
  db: { transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> },
  request: NoticedRequest & { readonly createdAt: Date; readonly expiresAt: Date; readonly remindedAt: Date | null },
  nowMs: number,
): Promise<number | undefined> {
  const dueMs = reminderAtMs(request.createdAt.getTime(), request.expiresAt.getTime());
  if (dueMs === undefined || request.remindedAt !== null) return undefined;
  if (nowMs < dueMs) return dueMs;
  await db.transaction(async (sql) => {
    if (await takeReminder(sql, request.consentId, new Date(nowMs)))
      await writeApprovalNotices(sql, 'approval_reminder', request, nowMs);
  });
  return undefined;
}

/** Who decides about a request now. A request that is gone: every member. */
async function responsibleForId(
  sql: Sql,
  organizationId: string,
  consentId: string,
  nowMs: number,
): Promise<Responsible> {
  // Most organizations have no rules, and need not be asked for more.
  if (!(await hasDecisionRules(sql, organizationId))) return { memberIds: null, persons: 1 };
  const consent = await findConsent(sql, organizationId, consentId);
  return consent === undefined ? { memberIds: null, persons: 1 } : responsibleFor(sql, organizationId, consent, nowMs);
}

/** Most organizations have no rules: then nothing more is read than the members. */
async function membersWhoDecide(
  sql: Sql,
  { organizationId, consentId }: NoticedRequest,
  nowMs: number,
): Promise<readonly NotifiedMember[]> {
  const all = await membersToNotify(sql, organizationId);
  if (!all.some(({ hasRules }) => hasRules)) return all;
  const { memberIds } = await responsibleForId(sql, organizationId, consentId, nowMs);
  return all.filter(({ memberId }) => memberIds === null || memberIds.includes(memberId));
}

/**
 * Asks all members, once nobody whom a rule names has decided in its time.
 *
 * @returns when that is, in milliseconds since 1970; undefined: it is done, or there is no such rule
 */
export async function escalateInTime(
  db: Sql & { transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> },
  request: NoticedRequest & { readonly escalatedAt: Date | null },
  nowMs: number,
): Promise<number | undefined> {
  if (request.escalatedAt !== null) return undefined;
  const { escalatesAtMs, isEscalated } = await responsibleForId(db, request.organizationId, request.consentId, nowMs);
  if (isEscalated === undefined) return escalatesAtMs;
  await db.transaction(async (sql) => {
    const taken = await sql.query(
      `update consent set escalated_at = $2 where id = $1 and status = 'pending' and escalated_at is null returning 1`,
      [request.consentId, new Date(nowMs)],
    );
    if (taken.length > 0) await writeApprovalNotices(sql, 'approval_request', request, nowMs);
  });
  return undefined;
}

/** Notices about a request that are to be started. */
export const noticesToStart = (sql: Sql, consentId: string): Promise<NewMemberNotice[]> =>
  waitingNoticesAbout(sql, consentId);

/** Invisible characters and those that change the direction of text: the reader must see the real text. */
const HIDDEN_CHARACTERS = /[\p{Cf}\p{Co}\p{Cn}]/gu;
const LINE_MAX_CHARACTERS = 200;
const RECIPIENTS_SHOWN = 10;

/** Words of others, shortened, on one line. */
export const shownLine = (text: string): string => {
  const line = oneLine(text.replace(HIDDEN_CHARACTERS, ''));
  return line.length > LINE_MAX_CHARACTERS ? `${line.slice(0, LINE_MAX_CHARACTERS)}…` : line;
};

/** One request, in words. */
interface DescribedRequest {
  readonly mailbox: string;
  readonly to: string;
  readonly subject: string;
  readonly preview: string;
  readonly why: string;
  /** UTC, to the minute. */
  readonly expires: string;
  /** For those who sign in. */
  readonly url: string;
}

/** A domain that is not ASCII may look like another one, so it is shown as DNS has it too. */
export function shownAddress(address: string): string {
  const ascii = withAsciiDomain(address);
  return shownLine(ascii === address ? address : `${address} (${ascii})`);
}

const addresses = (all: readonly string[]): string =>
  all.slice(0, RECIPIENTS_SHOWN).map(shownAddress).join(', ') +
  (all.length > RECIPIENTS_SHOWN ? ` and ${all.length - RECIPIENTS_SHOWN} more` : '');

const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const describeRequest = (consent: NoticedConsent, publicUrl: string): DescribedRequest => ({
  mailbox:
    consent.mailboxName === consent.mailboxAddress
      ? consent.mailboxAddress
      : `${shownLine(consent.mailboxName)} <${consent.mailboxAddress}>`,
  to: addresses(consent.allRecipients),
  subject: shownLine(consent.subject) || '(no subject)',
  preview: shownLine(consent.preview),
  why: shownLine(heldBecauseSentence(consent.heldBecause, consent.recipients)),
  expires: minute(consent.expiresAt),
  url: approvalPageUrl(publicUrl, consent.id),
});

const OPENINGS = {
  approval_request: (count: number) =>
    count === 1 ? 'A message is waiting for your approval.' : `${count} messages are waiting for approval.`,
  approval_reminder: (count: number) =>
    count === 1
      ? 'A message still waits for your approval. It expires within a day and will then not be sent.'
      : `${count} messages still wait for approval. They expire within a day and will then not be sent.`,
  approval_expired: (count: number) =>
    count === 1
      ? 'Nobody decided about this message in time, so it was not sent.'
      : `Nobody decided about these ${count} messages in time, so they were not sent.`,
} as const satisfies Record<ApprovalNoticeKind, (count: number) => string>;

interface NoticeScope {
  readonly kind: ApprovalNoticeKind;
  readonly organizationName: string;
  readonly publicUrl: string;
  /**
   * Whether the reader's mailbox is outside this instance. Agents may read the mailboxes here, so a notice to one of
   * them says only that something waits.
   */
  readonly detailed: boolean;
}

/** Text of the mail. Its links are those for people who sign in; the sender puts credentials into them. */
export function approvalText(consents: readonly NoticedConsent[], scope: NoticeScope): string {
  const { kind, organizationName, publicUrl, detailed } = scope;
  const shown = consents.slice(0, APPROVAL_DIGEST_ITEMS_MAX);
  const blocks = shown.map((consent) => {
    const about = describeRequest(consent, publicUrl);
    const lines = detailed
      ? [
          `Mailbox:  ${about.mailbox}`,
          `To:       ${about.to}`,
          `Subject:  ${about.subject}`,
          ...(about.preview === '' ? [] : [`Begins:   ${about.preview}`]),
          `Held:     ${about.why}`,
        ]
      : [`Mailbox:  ${about.mailbox}`];
    return [
      ...lines,
      `${kind === 'approval_expired' ? 'Expired: ' : 'Expires: '} ${about.expires}`,
      '',
      `  ${about.url}`,
    ].join('\n');
  });
  const more = consents.length - shown.length;
  return [
    OPENINGS[kind](consents.length),
    ...blocks,
    ...(more > 0 ? [`${more} more are listed at ${publicUrl}/approvals`] : []),
    footerOf(scope),
    `You get this mail as a member of ${shownLine(organizationName)}. Change how you are notified: ${publicUrl}/settings/notices`,
  ].join('\n\n');
}

/**
 * The same as the parts of a page with one button: of one request its own, of several the queue.
 *
 * @param urlOf where a request is decided
 */
export function approvalPage(
  consents: readonly NoticedConsent[],
  scope: NoticeScope,
  urlOf: (consentId: string) => string,
): NoticePage {
  const { kind, organizationName, publicUrl, detailed } = scope;
  const shown = consents.slice(0, APPROVAL_DIGEST_ITEMS_MAX);
  const [only] = consents;
  const isOne = consents.length === 1 && only !== undefined;
  const isOver = kind === 'approval_expired';
  const more = consents.length - shown.length;
  return {
    opening: OPENINGS[kind](consents.length),
    blocks: shown.map((consent) => {
      const about = describeRequest(consent, publicUrl);
      const facts: (readonly [string, string])[] = [
        ['Mailbox', about.mailbox],
        ...(detailed
          ? ([
              ['To', about.to],
              ['Subject', about.subject],
              ...(about.preview === '' ? [] : [['Begins', about.preview] as const]),
              ['Held', about.why],
            ] as const)
          : []),
        [isOver ? 'Expired' : 'Expires', about.expires],
      ];
      if (isOne) return { facts };
      return { facts, link: { url: urlOf(consent.id), title: isOver ? 'Show it' : 'Read and decide' } };
    }),
    button: isOne
      ? { url: urlOf(only.id), title: isOver ? 'Show the message' : 'Read and decide' }
      : { url: `${publicUrl}/approvals`, title: 'Open the approvals' },
    footer: [
      ...(more > 0 ? [`${more} more are listed on the page of approvals.`] : []),
      footerOf(scope),
      `You get this mail as a member of ${shownLine(organizationName)}.`,
    ],
    settingsUrl: `${publicUrl}/settings/notices`,
  };
}

function footerOf({ kind, detailed }: NoticeScope): string {
  if (kind === 'approval_expired') return 'The sender may submit the message again, which creates a new request.';
  if (detailed)
    return 'The link shows the whole message and asks you to confirm a decision. Anybody who has the link can decide in your name, so do not forward this mail.';
  return 'Sign in to see the message and to decide. This service stores mail to this address, and agents may read it. Therefore this notice has no link for deciding and quotes nothing of the message.';
}
