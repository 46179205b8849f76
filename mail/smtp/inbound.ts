/**
 * The inbound SMTP door (RFC 5321): takes mail for mailboxes of this instance from anybody, relays nothing.
 *
 *   connect ─ EHLO ─ STARTTLS? ─ MAIL ─ RCPT … ─ DATA ─▶ receive ▶ judge sender ▶ index ▶ store ▶ 250 <message id>
 *
 * 250 is said only after the commit; what fails before is 4xx and leaves nothing behind, and the redelivery key makes
 * the client's next try harmless. Recipients are judged at RCPT, sizes at MAIL and while the bytes flow, quota once more
 * under the lock of the write transaction.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import { smtpMessagesTotal } from '../../core/metrics.ts';
import type { Services } from '../../core/services.ts';
import {
  MESSAGE_MAX_BYTES,
  RECIPIENTS_PER_MESSAGE_MAX,
  SMTP_COMMAND_TIMEOUT_MS,
  SMTP_CONNECTIONS_PER_SOURCE_MAX,
  SMTP_DRAIN_MS,
} from '../../domain/mail-limits.ts';
import { connectionCounter } from '../connection-counter.ts';
import { openDoor } from '../listeners.ts';
import { findReturnPath, type KnownReturnPath } from '../outbound/return-path.ts';
import type { MailStore } from '../store/mail-store.ts';
import { recipientDirectory } from '../store/recipients.ts';
import { type CertificatePair, TLS_MIN_VERSION } from '../tls.ts';
import { acceptMessage, type TakeReturned } from './accept-message.ts';
import { blockedEvents } from './blocked-events.ts';
import { type DnsLookup, dnsLookup } from './dns-resolver.ts';
import { InboundServer } from './inbound-server.ts';
import { type AcceptedRecipients, recipientGate } from './recipient-gate.ts';
import { SmtpReply, unavailable } from './smtp-reply.ts';
import { takeReturned } from './take-returned.ts';

export interface InboundDoor {
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
  /** Connections of one address at once. */
  readonly connectionsPerSource?: number;
}

/** @throws when the port cannot be listened on */
export async function openInbound(options: InboundOptions): Promise<InboundDoor> {
  const { services, store, certificate } = options;
  const { settings, log } = services;
  const spoolFolder = path.join(settings.DATA_DIR, 'spool');
  mkdirSync(spoolFolder, { recursive: true, mode: 0o700 });
  const lookup = options.lookup ?? dnsLookup(settings.DNS_SERVERS, services.now);
  const blocked = blockedEvents(services);
  const gate = recipientGate(recipientDirectory(services.db, settings.MAIL_DOMAIN, services.now), blocked, services.db);
  const sources = connectionCounter(options.connectionsPerSource ?? SMTP_CONNECTIONS_PER_SOURCE_MAX);
  /** By the envelope object, which smtp-server makes anew for each transaction. */
  const accepted = new WeakMap<object, AcceptedRecipients>();
  const returned = new WeakMap<object, KnownReturnPath>();

  function logged(session: SMTPServerSession, verb: string, startedMs: number, more: object = {}): void {
    const ms = Math.round(performance.now() - startedMs);
    log[verb === 'DATA' || 'refused' in more ? 'info' : 'debug']({
      door: 'smtp',
      connection: session.id,
      verb,
      ms,
      ...more,
    });
  }

  /** Runs a step and answers; what is no refusal is trouble of ours. */
  function answer(
    session: SMTPServerSession,
    verb: string,
    step: () => Promise<{ facts?: object; text?: string }>,
    callback: (error?: Error | null, text?: string) => void,
  ): void {
    const startedMs = performance.now();
    step().then(
      ({ facts, text }) => {
        logged(session, verb, startedMs, facts);
        if (verb === 'DATA') smtpMessagesTotal.inc({ outcome: 'accepted' });
        callback(null, text);
      },
      (error: Error) => {
        const reply = error instanceof SmtpReply ? error : unavailable();
        if (reply !== error)
          log.error({ door: 'smtp', connection: session.id, verb, error: error.message }, 'SMTP step failed');
        logged(session, verb, startedMs, { refused: `${reply.responseCode} ${reply.message}` });
        smtpMessagesTotal.inc({ outcome: reply.responseCode < 500 ? 'deferred' : 'refused' });
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

  const server = new InboundServer({
    name: settings.MAIL_HOSTNAME,
    banner: 'Agent Mailbox',
    heloResponse: '%s greets %s',
    logger: false,
    size: MESSAGE_MAX_BYTES,
    rejectOversized: true,
    maxClients: settings.SMTP_MAX_CLIENTS,
    maxRecipients: RECIPIENTS_PER_MESSAGE_MAX,
    socketTimeout: SMTP_COMMAND_TIMEOUT_MS,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'HELP'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    hideDSN: true,
    cert: certificate.cert,
    key: certificate.key,
    minVersion: TLS_MIN_VERSION,
    onConnect(session, callback) {
      if (sources.enter(session.id, session.remoteAddress)) return callback();
      callback(new SmtpReply(421, '4.7.0', 'Too many connections from your address'));
    },
    onClose: (session) => sources.leave(session.id),
    onRcptTo(address: SMTPServerAddress, session, callback) {
      answer(
        session,
        'RCPT',
        async () => {
          const recipients = accepted.get(session.envelope) ?? new Map();
          accepted.set(session.envelope, recipients);
          const returnPath = await findReturnPath(services, address.address);
          if (returned.has(session.envelope) || (returnPath !== undefined && recipients.size > 0))
            throw new SmtpReply(452, '4.5.3', 'A return path is the only recipient of its mail');
          if (returnPath !== undefined) {
            returned.set(session.envelope, returnPath);
            return { facts: { returnPath: returnPath.messageId } };
          }
          const { recipient } = await gate.admit(address.address, session, recipients);
          return { facts: { mailbox: recipient.mailbox.id } };
        },
        callback,
      );
    },
    onData(stream, session, callback) {
      answer(
        session,
        'DATA',
        () =>
          acceptMessage(
            { services, store, lookup, blocked, spoolFolder, server },
            stream,
            session,
            accepted.get(session.envelope),
            takerOf(session),
          ),
        (error, text) => {
          callback(error, text);
          server.afterMessage();
        },
      );
    },
  });
  // Trouble of single connections: the client is gone, or its TLS failed.
  server.on('error', (error: Error) => log.debug({ door: 'smtp', error: error.message }, 'SMTP connection failed'));

  const door = await openDoor({
    name: 'smtp',
    host: settings.MAIL_HOST,
    port: settings.SMTP_PORT,
    proxyFrom: settings.MAIL_PROXY_FROM,
    log,
    serve({ socket, remoteAddress, remotePort }) {
      server.connect(socket, { remoteAddress, remotePort });
      return { stop: () => server.drain() };
    },
  });
  return {
    host: door.host,
    port: door.port,
    useCertificate: ({ cert, key }) => server.updateSecureContext({ cert, key }),
    async close() {
      server.drain();
      await door.close(SMTP_DRAIN_MS);
      await blocked.close();
    },
  };
}
