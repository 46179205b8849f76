/**
 * Mail to a return path of ours. Reports are recorded, whatever the state of the mailbox. Anything else, such as the
 * answer of somebody on holiday (RFC 3834 §4 sends it there), is mail to the mailbox, with all that may be said against
 * it.
 */
import type { SMTPServerSession } from 'smtp-server';
import type { Services } from '../../core/services.ts';
import { recordReport } from '../outbound/record-report.ts';
import type { KnownReturnPath } from '../outbound/return-path.ts';
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
  if (outcome === 'early') throw new SmtpReply(451, '4.3.0', 'The message is still on its way, report again later');
  if (outcome === 'recorded') return 'taken';
  const accepted: AcceptedRecipients = new Map();
  await gate.admit(path.address, session, accepted);
  return accepted;
}
