/**
 * What comes back for mail that had left: failures after the other side had taken it, and complaints.
 *
 * A failure makes the recipient `bounced` and puts a notice of ours into the sender's INBOX; the words of the report are
 * quoted, the report itself is not passed on. Each is recorded once, however often it is reported. Only a return path of
 * one recipient can put him on the suppression list: where several had the same, each could report on the others.
 */
import { readBlob } from '../../core/blob-store.ts';
import { reviewSending } from '../../core/sending-health.ts';
import { suppress } from '../../core/suppressions.ts';
import { isHardBounce } from '../../domain/outbound.ts';
import { type MailReport, readReport } from '../mime/read-report.ts';
import { inboxOf } from './attempt-message.ts';
import { bounceTo, type SendingServices } from './deliver-here.ts';
import type { FailedRecipient } from './dsn-write.ts';
import {
  changeRecipients,
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundRecipient,
} from './outbound-message.ts';
import type { ReturnPath } from './return-path.ts';
import { afterCommit } from './submit-message.ts';

/** `early`: the attempt it tells of is not recorded yet. `none`: it is no report that can be believed. */
export type ReportOutcome = 'recorded' | 'early' | 'none';

/** Feedback types that mean "I do not want this" (RFC 5965 §7.3, and `opt-out` of its registry). */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud', 'virus', 'opt-out', 'other']);

/**
 * @param nullSender whether it came from the null sender: delivery reports do (RFC 3464 §2), complaints need not
 */
export async function recordReport(
  services: SendingServices,
  path: ReturnPath,
  bytes: Buffer,
  nullSender: boolean,
): Promise<ReportOutcome> {
  const report = readReport(bytes);
  if (report === undefined || (report.kind === 'status' && !nullSender)) return 'none';
  if (report.kind === 'status') return recordFailures(services, path, report);
  if (COMPLAINTS.has(report.type)) await recordComplaint(services, path, report.addresses);
  return 'recorded';
}

interface Failure extends FailedRecipient {
  readonly recipient: OutboundRecipient;
}

function failuresOf(
  path: ReturnPath,
  recipients: readonly OutboundRecipient[],
  reported: Extract<MailReport, { kind: 'status' }>['recipients'],
): Failure[] {
  const failed = reported.filter(({ action }) => action === 'failed');
  return recipients.flatMap((recipient): Failure[] => {
    const named = failed.find(({ addresses }) => addresses.includes(recipient.address.toLowerCase()));
    // Behind a forwarding the report names an address we never heard of; the return path tells whose it was.
    const found = named ?? (path.recipient === recipient.number ? failed[0] : undefined);
    if (found === undefined || recipient.local) return [];
    const reply = found.reply === '' ? 'The other side reported a failure' : found.reply;
    return [{ recipient, address: recipient.address, code: found.code, reply }];
  });
}

const concerns = (path: ReturnPath, { number }: OutboundRecipient): boolean =>
  path.recipient === null || path.recipient === number;

async function recordFailures(
  services: SendingServices,
  path: ReturnPath,
  report: Extract<MailReport, { kind: 'status' }>,
): Promise<ReportOutcome> {
  const message = await findOutbound(services.db, path.messageId);
  if (message === undefined) return 'recorded';
  const sender = await findSender(services.db, message.mailboxId);
  const bytes = await readBlob(services.db, message.blob, 0, message.size);
  const now = new Date(services.now());
  const { outcome, owed } = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    const recipients = (await findRecipients(sql, message.id)).filter((each) => concerns(path, each));
    const failures = failuresOf(path, recipients, report.recipients);
    if (failures.some(({ recipient }) => recipient.status === 'sending')) return { outcome: 'early' as const, owed: 0 };
    const fresh = failures.filter(({ recipient }) => recipient.status === 'sent');
    if (fresh.length === 0) return { outcome: 'recorded' as const, owed: 0 };
    const changes = fresh.map(({ recipient: { number }, code, reply }) => ({
      number,
      status: 'bounced' as const,
      code,
      reply,
    }));
    await changeRecipients(sql, message.id, changes, now);
    const gone = fresh.flatMap(({ address, code }) => (path.recipient !== null && isHardBounce(code) ? [address] : []));
    await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'hard_bounce', gone, now);
    const notice = sender === undefined ? 0 : await bounceTo(sql, services, sender, message, bytes, fresh);
    await reviewSending(sql, message.mailboxId, now);
    return { outcome: 'recorded' as const, owed: notice };
  });
  afterCommit(services, { folderIds: await inboxOf(services, message.mailboxId), owed });
  return outcome;
}

async function recordComplaint(
  services: SendingServices,
  path: ReturnPath,
  addresses: readonly string[],
): Promise<void> {
  const now = new Date(services.now());
  await services.db.transaction(async (sql) => {
    const message = await lockOutbound(sql, path.messageId);
    if (message === undefined) return;
    const complained = (await findRecipients(sql, message.id)).filter(
      (each) =>
        !each.local &&
        each.status === 'sent' &&
        (path.recipient === null ? addresses.includes(each.address.toLowerCase()) : path.recipient === each.number),
    );
    await sql.query(
      `update outbound_recipient set complained_at = coalesce(complained_at, $3)
        where message_id = $1 and number = any($2::smallint[])`,
      [message.id, complained.map(({ number }) => number), now],
    );
    const gone = path.recipient === null ? [] : complained.map(({ address }) => address);
    await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'complaint', gone, now);
    await reviewSending(sql, message.mailboxId, now);
  });
}
