/**
 * Mail to one of our return paths. Reports are recorded, whatever the state of the mailbox. Anything else, such as an
 * automatic reply (RFC 3834 §4 sends it there), is mail to the mailbox, and can be refused like any other.
 */
import type { SMTPServerSession } from 'smtp-server';
import type { Services } from '#core/platform/process/services.ts';
import { recordReport } from '#sending/notices/record-report.ts';
import type { KnownReturnPath } from '#sending/transports/return-path.ts';
import type { AcceptedRecipients, RecipientGate } from './recipient-gate.ts';
import { SmtpReply } from './smtp-reply.ts';

/** @throws {SmtpReply} */
export async function takeReturned(
  { services, gate }: { readonly services: Services; readonly gate: RecipientGate },
  session: SMTPServerSession,
  path: KnownReturnPath,
  bytes: Buffer,
): Promise<'taken' | AcceptedRecipients> {
  const { mailFrom } = session.envelope;
  const outcome = await recordReport(services, path, bytes, mailFrom === false || mailFrom.address === '');
  if (outcome === 'early') throw new SmtpReply(451, '4.3.0', 'The message is still being sent, report again later');
  if (outcome === 'recorded') return 'taken';
  const accepted: AcceptedRecipients = new Map();
  await gate.admit(path.address, session, accepted);
  return accepted;
}
