/** What the mail log says of an SMTP session and its transaction. */
import type { SMTPServerSession } from 'smtp-server';
import type { MailLine } from '#core/platform/mail-log/mail-line.ts';
import type { RefusalReply } from './inbound-server.ts';

type SessionLine = Pick<MailLine, 'session' | 'client' | 'helo' | 'tls'>;
type EnvelopeLine = Pick<MailLine, 'from' | 'to'>;

export function sessionLine(session: SMTPServerSession): SessionLine {
  const { id, remoteAddress, hostNameAppearsAs, secure, tlsOptions } = session;
  const cipher = tlsOptions === false ? undefined : tlsOptions;
  return {
    session: id,
    client: remoteAddress,
    helo: hostNameAppearsAs || undefined,
    tls: secure ? [cipher?.version, cipher?.name].filter(Boolean).join(' ') || 'TLS' : 'none',
  };
}

export function envelopeLine(session: SMTPServerSession): EnvelopeLine {
  // The package makes it when it greets.
  const envelope: SMTPServerSession['envelope'] | undefined = session.envelope;
  if (envelope === undefined) return {};
  const { mailFrom, rcptTo } = envelope;
  return { ...(mailFrom === false ? {} : { from: mailFrom.address }), to: rcptTo.map(({ address }) => address) };
}

/** A refusal; that of MAIL or RCPT names the address that was refused. */
export function refusalLine(
  mail: 'in' | 'submission',
  { session, remoteAddress, step, address, code, text }: RefusalReply,
): MailLine {
  const envelope = envelopeLine(session);
  return {
    mail,
    outcome: code < 500 ? 'deferred' : 'refused',
    step,
    ...sessionLine(session),
    client: remoteAddress,
    ...envelope,
    ...(step === 'MAIL' && address !== undefined ? { from: address } : {}),
    ...(step === 'RCPT' && address !== undefined ? { to: [address] } : {}),
    reply: text,
  };
}
