/**
 * Writes a notice about held mail at the time of sending, so that it lists what still waits, and creates its links.
 *
 * A link decides in the name of its member, so it is never sent to an address that this instance hosts: such a member
 * gets a notice whose links need a session.
 */

import {
  approvalLinkUrl,
  approvalPageUrl,
  createApprovalLink,
  deleteLinksOfNotice,
} from '#core/accounts/approval-links.ts';
import { noticeCredentialPlace } from '#core/accounts/invitations.ts';
import { isHostedAddress } from '#core/mailboxes/domains.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import type { Sql } from '#db/database.ts';
import {
  closeApprovalNotice,
  consentsOfNotice,
  dropNotice,
  findApprovalNotice,
  type NoticedConsent,
  sealedCredentialOf,
  writeNoticeText,
} from '#db/queries/notices/approval-notices.ts';
import type { MemberNoticeRow } from '#db/queries/notices/member-notices.ts';
import { APPROVAL_DIGEST_ITEMS_MAX, type ApprovalNoticeKind } from '#domain/sending/approval-notices.ts';
import { approvalPage, approvalSubject, approvalText } from '#sending/consent/approval-notices.ts';
import { noticeHtml } from '#sending/consent/notice-html.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';

/** A mail of the service, ready to be sent. */
export interface WrittenNotice {
  readonly subject: string;
  readonly text: string;
  /** The same as HTML; left out: there is none. */
  readonly html?: string;
  readonly holdsCredential: boolean;
}

/** When a notice is due, in milliseconds since 1970: until then it collects requests. */
export const dueAtMs = async ({ db }: SendingServices, noticeId: string): Promise<number | undefined> =>
  (await findApprovalNotice(db, noticeId))?.sendAt.getTime();

/** The requests for a notice. Nothing is added to it afterwards. */
export async function closedConsents(
  { db, now }: SendingServices,
  noticeId: string,
  kind: ApprovalNoticeKind,
): Promise<NoticedConsent[]> {
  await closeApprovalNotice(db, noticeId);
  const all = await consentsOfNotice(db, noticeId);
  return kind === 'approval_expired'
    ? all
    : all.filter(({ status, expiresAt }) => status === 'pending' && expiresAt.getTime() > now());
}

/** @returns undefined: everything was decided meanwhile, or the member was removed, and the notice is deleted */
export async function writeApprovalMail(
  services: SendingServices,
  notice: MemberNoticeRow,
  kind: ApprovalNoticeKind,
): Promise<WrittenNotice | undefined> {
  const { db, settings } = services;
  const about = await findApprovalNotice(db, notice.id);
  const consents = about === undefined ? [] : await closedConsents(services, notice.id, kind);
  if (about === undefined || consents.length === 0) {
    await dropNotice(db, notice.id);
    return undefined;
  }
  const isHosted = await isHostedAddress(db, settings.MAIL_DOMAIN, [about.organizationId], notice.recipient);
  const publicUrl = await publicAddress(services);
  const [organization] = await db.query<{ name: string; secondFactor: boolean }>(
    `select name, coalesce(settings ->> 'secondFactor', 'off') <> 'off' as "secondFactor" from organizations where id = $1`,
    [about.organizationId],
  );
  const scope = { kind, organizationName: organization?.name ?? '', publicUrl, detailed: !isHosted };
  const text = approvalText(consents, scope);
  const subject = approvalSubject(kind, isHosted ? null : consents.map((consent) => consent.subject));
  // A link decides nothing where a second factor is required: the mail leads to the sign-in.
  const withoutLinks = isHosted || kind === 'approval_expired' || organization?.secondFactor === true;
  const linked = withoutLinks ? [] : consents.slice(0, APPROVAL_DIGEST_ITEMS_MAX);
  const tokens = await db.transaction((sql) => keepText(services, sql, { notice, about, subject, text, linked }));
  const withLinks = linked.reduce((mail, { id }) => {
    const token = tokens[id];
    return token === undefined
      ? mail
      : mail.replace(approvalPageUrl(publicUrl, id), () => approvalLinkUrl(publicUrl, token));
  }, text);
  const page = approvalPage(consents, scope, (id) => {
    const token = tokens[id];
    return token === undefined ? approvalPageUrl(publicUrl, id) : approvalLinkUrl(publicUrl, token);
  });
  return { subject, text: withLinks, html: noticeHtml(page), holdsCredential: linked.length > 0 };
}

/** Stores the text for the API, and the links' tokens sealed for further attempts. @returns the tokens by request */
async function keepText(
  services: SendingServices,
  sql: Sql,
  {
    notice,
    about,
    subject,
    text,
    linked,
  }: {
    readonly notice: MemberNoticeRow;
    readonly about: { readonly organizationId: string; readonly memberId: string };
    readonly subject: string;
    readonly text: string;
    readonly linked: readonly NoticedConsent[];
  },
): Promise<Readonly<Record<string, string>>> {
  const place = noticeCredentialPlace(notice.id);
  const sealed = await sealedCredentialOf(sql, notice.id);
  const known: Record<string, string> = sealed === undefined ? {} : JSON.parse(services.secrets.open(sealed, place));
  if (linked.length === 0) {
    // An earlier attempt made some: the address was not hosted here then.
    await deleteLinksOfNotice(sql, notice.id);
    await writeNoticeText(sql, notice.id, { subject, text, credentials: null });
    return {};
  }
  const tokens: Record<string, string> = {};
  for (const { id, expiresAt } of linked)
    tokens[id] =
      known[id] ??
      (await createApprovalLink(services, sql, {
        organizationId: about.organizationId,
        consentId: id,
        memberId: about.memberId,
        noticeId: notice.id,
        expiresAt,
      }));
  const credentials = services.secrets.seal(JSON.stringify(tokens), place);
  await writeNoticeText(sql, notice.id, { subject, text, credentials });
  return tokens;
}
