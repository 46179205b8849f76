/**
 * The inbound SMTP listener (RFC 5321): accepts mail for mailboxes of this instance from any host, relays nothing.
 *
 *   connect ─ EHLO ─ STARTTLS? ─ MAIL ─ RCPT … ─ DATA ─▶ receive ▶ check sender ▶ index ▶ store ▶ 250 <message id>
 *
 * 250 is sent only after the commit; an earlier failure is 4xx and stores nothing, and the redelivery key makes the
 * client's next try harmless. Recipients are checked at RCPT, sizes at MAIL and while the bytes flow, quota once more
 * under the lock of the write transaction.
 *
 * Mail to one of our return paths. Reports are recorded, whatever the state of the mailbox. Anything else, such as an
 * automatic reply (RFC 3834 §4 sends it there), is mail to the mailbox, and can be refused like any other.
 */
import type { SMTPServerAddress, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { findReportAddress, type ReportAddress } from '#core/mailboxes/domain-reports.ts';
import { findRoleAddress, type RoleAddress } from '#core/mailboxes/role-mail.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { smtpAnswersTotal } from '#core/platform/log/metrics.ts';
import type { MailLine } from '#core/platform/mail-log/mail-line.ts';
import type { Services } from '#core/platform/process/services.ts';
import {
  MESSAGE_MAX_BYTES,
  RECIPIENTS_PER_MESSAGE_MAX,
  SMTP_COMMAND_TIMEOUT_MS,
  SMTP_DRAIN_MS,
  SMTP_LINE_MAX_BYTES,
} from '#domain/mail/mail-limits.ts';
import { ROLE_MAIL_MAX_BYTES } from '#domain/mail/mailbox-address.ts';
import { connectionCounter, connectionTotal } from '#mail/connection-counter.ts';
import { openListener } from '#mail/listeners.ts';
import { type CertificatePair, TLS_MIN_VERSION } from '#mail/tls.ts';
import { recipientDirectory } from '#mailstore/delivery/recipients.ts';
import type { MailStore } from '#mailstore/mail-store.ts';
import { recordReport } from '#sending/notices/record-report.ts';
import { findReturnPath, type KnownReturnPath } from '#sending/transports/return-path.ts';
import { acceptMessage, roleMailTooLarge, type TakeReturned } from './accept-message.ts';
import { blockedEvents } from './blocked-events.ts';
import { type DnsLookup, dnsLookup } from './dns-resolver.ts';
import { InboundServer, smtpConnectionRefusal } from './inbound-server.ts';
import {
  type AcceptedRecipients,
  declaredSize,
  mustBeAlone,
  needsToBeAlone,
  type RecipientGate,
  recipientGate,
  refuseByStatus,
} from './recipient-gate.ts';
import type { SenderCheckBudgets } from './sender-checks.ts';
import { envelopeLine, refusalLine, sessionLine } from './session-line.ts';
import { sessionTraces } from './session-traces.ts';
import { faultLevel, replyToFault, SmtpReply } from './smtp-reply.ts';
import { smtpSpool } from './smtp-spool.ts';

export interface InboundListener {
  readonly host: string;
  readonly port: number;
  useCertificate(pair: CertificatePair): void;
  /** Lets messages in flight finish, at most 30 s. */
  close(): Promise<void>;
}

export interface InboundOptions {
  readonly services: Services;
  readonly store: MailStore;
  readonly certificate: CertificatePair;
  /** Default: the resolvers of DNS_SERVERS. */
  readonly lookup?: DnsLookup;
  /** Time for the DNS of sender checks. Default: that of `domain/mail/mail-limits.ts`. */
  readonly senderCheckBudgets?: SenderCheckBudgets;
  /** Given notices after their commit, to start sending them; without it the sweep of the API processes does. */
  readonly onNotices?: ((notices: readonly NewMemberNotice[]) => void) | undefined;
  /** Connections of one address at once. */
  readonly connectionsPerSource?: number;
}

/** @throws when the port cannot be listened on */
export async function openInbound(options: InboundOptions): Promise<InboundListener> {
  const { services, store, certificate } = options;
  const { settings, log } = services;
  const spool = smtpSpool(settings.DATA_DIR);
  const traces = sessionTraces('smtp');
  const lookup = options.lookup ?? dnsLookup(settings.DNS_SERVERS, services.now);
  const blocked = blockedEvents(services);
  const gate = recipientGate(recipientDirectory(services.db, settings.MAIL_DOMAIN, services.now), blocked, services.db);
  /** Keyed by the envelope object, which smtp-server creates for each transaction. */
  const accepted = new WeakMap<object, AcceptedRecipients>();
  const returned = new WeakMap<object, KnownReturnPath>();
  const roleRecipients = new WeakMap<object, Map<string, RoleAddress>>();
  const reportRecipients = new WeakMap<object, ReportAddress>();

  /** What is known of a message before it is accepted. Keyed as above. */
  const observed = new WeakMap<object, Partial<MailLine>>();
  const observe = (session: SMTPServerSession, more: Partial<MailLine>): void =>
    void observed.set(session.envelope, { ...observed.get(session.envelope), ...more });

  /** Runs a step and answers; anything other than a refusal is an internal error. */
  function answer(
    session: SMTPServerSession,
    verb: 'RCPT' | 'DATA',
    step: () => Promise<string | undefined>,
    callback: (error?: Error | null, text?: string) => void,
  ): void {
    step().then(
      (text) => {
        smtpAnswersTotal.inc({ command: verb.toLowerCase(), outcome: 'accepted' });
        callback(null, text);
      },
      (error: Error) => {
        const reply = error instanceof SmtpReply ? error : replyToFault(error);
        if (reply !== error && !noticeOutage(log, error))
          log[faultLevel(error)](
            { listener: 'smtp', connection: session.id, verb, reason: reasonOf(error) },
            'SMTP step failed',
          );
        const outcome = reply !== error ? 'failed' : reply.responseCode < 500 ? 'deferred' : 'refused';
        smtpAnswersTotal.inc({ command: verb.toLowerCase(), outcome });
        callback(reply);
      },
    );
  }

  /** For mail to a return path. */
  function takerOf(session: SMTPServerSession): TakeReturned | undefined {
    const returnPath = returned.get(session.envelope);
    return returnPath === undefined
      ? undefined
      : (bytes) => takeReturned({ services, gate }, session, returnPath, bytes);
  }

  const inboundOptions: SMTPServerOptions = {
    name: settings.MAIL_HOSTNAME,
    banner: 'Agent Mailbox',
    heloResponse: '%s greets %s',
    logger: false,
    size: MESSAGE_MAX_BYTES,
    rejectOversized: true,
    maxRecipients: RECIPIENTS_PER_MESSAGE_MAX,
    maxCommandLength: SMTP_LINE_MAX_BYTES,
    socketTimeout: SMTP_COMMAND_TIMEOUT_MS,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'HELP'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    hideREQUIRETLS: true,
    hideDSN: true,
    cert: certificate.cert,
    key: certificate.key,
    minVersion: TLS_MIN_VERSION,
    onRcptTo(address: SMTPServerAddress, session, callback) {
      answer(
        session,
        'RCPT',
        async () => {
          const recipients = accepted.get(session.envelope) ?? new Map();
          accepted.set(session.envelope, recipients);
          const returnPath = await findReturnPath(services, address.address);
          const reports =
            returnPath === undefined
              ? await findReportAddress(services.db, settings.MAIL_DOMAIN, address.address)
              : undefined;
          const isAlone = returnPath !== undefined || reports !== undefined;
          if (
            returned.has(session.envelope) ||
            reportRecipients.has(session.envelope) ||
            (isAlone && (recipients.size > 0 || roleRecipients.has(session.envelope)))
          )
            throw new SmtpReply(452, '4.5.3', 'A return path, or an address for reports, must be the only recipient');
          if (returnPath !== undefined) {
            returned.set(session.envelope, returnPath);
            return undefined;
          }
          if (reports !== undefined) {
            admitRole(reports, session);
            reportRecipients.set(session.envelope, reports);
            return undefined;
          }
          const role = await findRoleAddress(services.db, settings.MAIL_DOMAIN, address.address);
          if (role !== undefined) {
            if (needsToBeAlone(recipients)) throw mustBeAlone();
            admitRole(role, session);
            const roles = roleRecipients.get(session.envelope) ?? new Map();
            roleRecipients.set(session.envelope, roles.set(role.address, role));
            return undefined;
          }
          const { recipient } = await gate.admit(address.address, session, recipients);
          if (recipient.alias?.refusesOthers === true && roleRecipients.has(session.envelope)) {
            recipients.delete(recipient.mailbox.id);
            throw mustBeAlone();
          }
          return undefined;
        },
        callback,
      );
    },
    onData(stream, session, callback) {
      answer(
        session,
        'DATA',
        async () => {
          const { facts, text } = await traces.message(session, async (span) => {
            const accepting = await acceptMessage(
              {
                services,
                store,
                lookup,
                budgets: options.senderCheckBudgets,
                blocked,
                spool,
                server,
                onNotices: options.onNotices,
                observe: (more) => observe(session, more),
              },
              stream,
              session,
              {
                mailboxes: accepted.get(session.envelope),
                roles: [...(roleRecipients.get(session.envelope)?.values() ?? [])],
                reports: reportRecipients.get(session.envelope),
              },
              takerOf(session),
            );
            span.set({ 'agent_mailbox.message.id': accepting.facts.messages });
            return accepting;
          });
          services.mailLog.note({
            mail: 'in',
            outcome: 'accepted',
            listener: 'smtp',
            ...sessionLine(session),
            ...envelopeLine(session),
            ...observed.get(session.envelope),
            ...facts,
          });
          return text;
        },
        (error, text) => {
          callback(error, text);
          server.afterMessage();
        },
      );
    },
  };
  const server = new InboundServer(inboundOptions, (refusal) =>
    services.mailLog.refused({
      ...refusalLine('in', refusal),
      listener: 'smtp',
      ...observed.get(refusal.session.envelope),
    }),
  );
  // Errors of single connections: the client disconnected, or its TLS failed.
  server.on('error', (error: Error) => log.debug({ listener: 'smtp', error: error.message }, 'SMTP connection failed'));

  const listener = await openListener({
    name: 'smtp',
    host: settings.MAIL_HOST,
    port: settings.SMTP_PORT,
    proxyFrom: settings.MAIL_PROXY_FROM,
    answersAfterEnd: true,
    limits: {
      total: connectionTotal(settings.SMTP_MAX_CLIENTS),
      sources: connectionCounter(options.connectionsPerSource ?? settings.SMTP_CLIENTS_PER_ADDRESS),
    },
    refusal: smtpConnectionRefusal(settings.MAIL_HOSTNAME),
    log,
    mailLog: services.mailLog,
    serve({ id, socket, remoteAddress, remotePort }) {
      traces.begin(id, socket);
      server.connect(socket, { id, remoteAddress, remotePort });
      return { stop: () => server.drain() };
    },
  });
  return {
    host: listener.host,
    port: listener.port,
    useCertificate: ({ cert, key }) => server.updateSecureContext({ cert, key }),
    async close() {
      server.drain();
      await listener.close(SMTP_DRAIN_MS);
      await blocked.close();
    },
  };
}

/** @throws {SmtpReply} if the organization is suspended, or the client announces too many bytes */
function admitRole({ suspendedReceive }: RoleAddress | ReportAddress, session: SMTPServerSession): void {
  if (suspendedReceive !== null) refuseByStatus(suspendedReceive === 'defer' ? 'pending' : 'suspended');
  if (declaredSize(session) > ROLE_MAIL_MAX_BYTES) throw roleMailTooLarge();
}

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
