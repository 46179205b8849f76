/**
 * Reports about sent mail: failures after the other host had accepted it, requested success reports, and complaints.
 *
 * A failure makes the recipient `bounced` and puts our own notice into the sender's INBOX; the text of the report is
 * quoted, the report itself is not forwarded. Each is recorded once, however often it is reported. Only a return path
 * of one recipient can put him on the suppression list: where several had the same, each could report on the others.
 */
import { recordEvents } from '#core/events/record-event.ts';
import { reviewSending } from '#core/mailboxes/sending-health.ts';
import { bouncesTotal, complaintsTotal } from '#core/platform/log/metrics.ts';
import { isHardBounce } from '#domain/sending/outbound.ts';
import { type NoticeAction, wantsNotice } from '#domain/webhooks/delivery-notices.ts';
import { type MailReport, readReport } from '#mime/read-report.ts';
import { suppress } from '#sending/lists/suppressions.ts';
import { type FailedRecipient, notifySender } from '#sending/local-delivery/notify-sender.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { inboxOf } from '#sending/outbox/local-addresses.ts';
import { bouncedEvents, complainedEvents } from '#sending/outbox/outbound-events.ts';
import {
  changeRecipients,
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundRecipient,
  readContent,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import type { ReturnPath } from '#sending/transports/return-path.ts';

/** `early`: the attempt it is about is not recorded yet. `none`: it is not a report that can be trusted. */
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
  if (report.kind === 'status') return recordStatus(services, path, report);
  if (COMPLAINTS.has(report.type)) await recordComplaint(services, path, report);
  return 'recorded';
}

type StatusReport = Extract<MailReport, { kind: 'status' }>;
type Reported = FailedRecipient & OutboundRecipient;

/** Recipients of whom a report says this. */
function reported(
  path: ReturnPath,
  recipients: readonly OutboundRecipient[],
  report: StatusReport,
  action: NoticeAction,
): Reported[] {
  const reported = report.recipients.filter((each) => each.action === action);
  return recipients.flatMap((recipient): Reported[] => {
    const named = reported.find(({ addresses }) => namesOf(recipient).some((name) => addresses.includes(name)));
    // After forwarding, the report contains an unknown address; the return path identifies the recipient.
    const found = named ?? (path.recipient === recipient.number ? reported[0] : undefined);
    if (found === undefined || recipient.local) return [];
    const { code, reply, remoteMta } = found;
    return [
      {
        ...recipient,
        code,
        reply: reply === '' ? SILENT_REPLY[action] : reply,
        ...(remoteMta === '' ? {} : { remoteMta }),
      },
    ];
  });
}

/** In lower case: the address, and the original recipient given by the submitter. */
const namesOf = ({ address, originalRecipient }: OutboundRecipient): string[] =>
  [address, originalRecipient?.replace(/^[^;]*;/, '') ?? address].map((name) => name.toLowerCase());

const SILENT_REPLY: Readonly<Record<NoticeAction, string>> = {
  failed: 'The other host reported a failure',
  delayed: 'The other host reported a delay',
  delivered: 'The other host reported the delivery',
  relayed: 'The other host relayed it',
  expanded: 'The other host sent it to a list',
};

const concerns = (path: ReturnPath, { number }: OutboundRecipient): boolean =>
  path.recipient === null || path.recipient === number;

async function recordStatus(services: SendingServices, path: ReturnPath, report: StatusReport): Promise<ReportOutcome> {
  const message = await findOutbound(services.db, path.messageId);
  if (message === undefined) return 'recorded';
  const sender = await findSender(services.db, message.mailboxId);
  const bytes = await readContent(services.db, message);
  const now = new Date(services.now());
  const { outcome, owed, bounced } = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    const recipients = (await findRecipients(sql, message.id)).filter((each) => concerns(path, each));
    const failures = reported(path, recipients, report, 'failed');
    const successes = SUCCESSES.map((action) => ({
      action,
      asked: reported(path, recipients, report, action).filter((each) => wantsNotice(each, action)),
    }));
    const spoken = [...failures, ...successes.flatMap(({ asked }) => asked)];
    if (spoken.some(({ status }) => status === 'sending')) return { outcome: 'early' as const, owed: 0, bounced: 0 };
    const notify = (action: NoticeAction, reported: readonly Reported[]) =>
      sender === undefined ? 0 : notifySender(sql, services, sender, message, bytes, action, reported);
    let notices = 0;
    for (const { action, asked } of successes) {
      const reported = asked.filter(({ status, successNotifiedAt }) => status === 'sent' && successNotifiedAt === null);
      await sql.query(SUCCESS_NOTIFIED, [message.id, reported.map(({ number }) => number), now]);
      notices += await notify(action, reported);
    }
    const fresh = failures.filter(({ status }) => status === 'sent');
    if (fresh.length === 0) return { outcome: 'recorded' as const, owed: notices, bounced: 0 };
    const changes = fresh.map(({ number, code, reply }) => ({ number, status: 'bounced' as const, code, reply }));
    await changeRecipients(sql, message.id, changes, now);
    // It is shown in the status, but proves nothing about the mailbox: another recipient may have forged it.
    if (path.recipient === null) await sql.query(REPORT_SHARED, [message.id, changes.map(({ number }) => number)]);
    const gone = fresh.flatMap(({ address, code }) => (path.recipient !== null && isHardBounce(code) ? [address] : []));
    await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'hard_bounce', gone, now);
    notices += await notify('failed', fresh);
    if (sender !== undefined)
      notices += await recordEvents(sql, bouncedEvents(sender, message, message.threadId, fresh, 'report', now));
    await reviewSending(sql, message.mailboxId, now);
    return { outcome: 'recorded' as const, owed: notices, bounced: fresh.length };
  });
  bouncesTotal.inc({ source: 'report' }, bounced);
  afterCommit(services, { folderIds: await inboxOf(services, message.mailboxId), owed });
  return outcome;
}

/** Reported if the sender requested it (RFC 3461 §4.1). */
const SUCCESSES: readonly NoticeAction[] = ['delivered', 'relayed', 'expanded'];

const SUCCESS_NOTIFIED = `
  update outbound_recipient set success_told_at = $3 where message_id = $1 and number = any($2::smallint[])`;

const REPORT_SHARED = `
  update outbound_recipient set report_shared = true where message_id = $1 and number = any($2::smallint[])`;

async function recordComplaint(
  services: SendingServices,
  path: ReturnPath,
  { addresses, type }: Extract<MailReport, { kind: 'feedback' }>,
): Promise<void> {
  const now = new Date(services.now());
  const { complaints, owed } = await services.db.transaction(async (sql) => {
    const message = await lockOutbound(sql, path.messageId);
    if (message === undefined) return { complaints: 0, owed: 0 };
    const complained = (await findRecipients(sql, message.id)).filter(
      (each) =>
        !each.local &&
        each.status === 'sent' &&
        (path.recipient === null ? addresses.includes(each.address.toLowerCase()) : path.recipient === each.number),
    );
    const fresh = await sql.query<{ number: number }>(
      `update outbound_recipient set complained_at = $3
        where message_id = $1 and number = any($2::smallint[]) and complained_at is null returning number`,
      [message.id, complained.map(({ number }) => number), now],
    );
    const gone = path.recipient === null ? [] : complained.map(({ address }) => address);
    await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'complaint', gone, now);
    await reviewSending(sql, message.mailboxId, now);
    const numbers = new Set(fresh.map(({ number }) => number));
    const first = complained.flatMap(({ number, address }) => (numbers.has(number) ? [address] : []));
    const sender = first.length === 0 ? undefined : await findSender(sql, message.mailboxId);
    const events = sender === undefined ? [] : complainedEvents(sender, message, message.threadId, first, type, now);
    return { complaints: fresh.length, owed: await recordEvents(sql, events) };
  });
  complaintsTotal.inc(complaints);
  afterCommit(services, { folderIds: [], owed });
}
