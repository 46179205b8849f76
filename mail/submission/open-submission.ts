/**
 * Submission (RFC 6409): a mailbox logs in with its address and token, under TLS only, and sends as itself.
 *
 *   AUTH ─▶ MAIL FROM its own address ─▶ RCPT ─▶ DATA ─▶ `submitBytes`, the use case of every protocol
 *
 * A message held for consent is answered 250: the client must not send it again.
 */

import type { LoginResult, MailAccount } from '@agent-mailbox/mail-store';
import type { SMTPServerAuthentication, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { findOwnAddresses } from '#db/queries/mailboxes/own-addresses.ts';
import { CatalogueError, type ErrorCode } from '#domain/errors.ts';
import {
  MESSAGE_MAX_BYTES,
  RECIPIENTS_PER_MESSAGE_MAX,
  SMTP_COMMAND_TIMEOUT_MS,
  SMTP_DRAIN_MS,
  SMTP_LINE_MAX_BYTES,
} from '#domain/mail/mail-limits.ts';
import { isBarePostmaster, isEmailAddress, isOneOf } from '#domain/mail/mailbox-address.ts';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { connectionCounter, connectionTotal } from '#mail/connection-counter.ts';
import { type Listener, openListener } from '#mail/listeners.ts';
import type { Authenticator } from '#mail/login/mailbox-login.ts';
import { smtpConnectionRefusal } from '#mail/smtp/inbound-server.ts';
import { refusalLine, sessionLine } from '#mail/smtp/session-line.ts';
import { sessionTraces } from '#mail/smtp/session-traces.ts';
import { faultLevel, replyToFault, SmtpReply } from '#mail/smtp/smtp-reply.ts';
import { smtpSpool } from '#mail/smtp/smtp-spool.ts';
import { type CertificatePair, TLS_MIN_VERSION, type TlsContext } from '#mail/tls.ts';
import type { Submitted } from '#sending/outbox/find-submitted.ts';
import { findSender } from '#sending/outbox/outbound-message.ts';
import { submitBytes } from '#sending/submit/submit-message.ts';
import { messageNotices, recipientNotices } from './dsn-parameters.ts';
import { SUBMISSION_MECHANISMS, SubmissionServer } from './submission-server.ts';

export interface SubmissionOptions {
  readonly services: Services;
  readonly tls: TlsContext;
  readonly certificate: CertificatePair;
  readonly authenticator: Authenticator;
  /**
   * Called for each message after its commit, to start sending it; without it the sweep of the API processes does that.
   */
  readonly onSubmitted?: ((submitted: Submitted) => void) | undefined;
}

export interface SubmissionListeners {
  readonly submission: ListenerAddress;
  readonly submissionStarttls: ListenerAddress;
  useCertificate(pair: CertificatePair): void;
  close(): Promise<void>;
}

interface Conversation {
  readonly login: ReturnType<Authenticator['forConnection']>;
  account?: MailAccount;
}

/** @throws when a port cannot be listened on; then none is */
export async function openSubmission(options: SubmissionOptions): Promise<SubmissionListeners> {
  const { services, certificate, authenticator } = options;
  const { settings, log } = services;
  const spool = smtpSpool(settings.DATA_DIR);
  const limits = {
    total: connectionTotal(settings.SUBMISSION_MAX_CLIENTS),
    sources: connectionCounter(settings.MAIL_CLIENTS_PER_ADDRESS),
  };
  const traces = sessionTraces('submission');
  const conversations = new Map<string, Conversation>();
  /** Bytes of messages, for the mail log. Keyed by the envelope object, which smtp-server creates for each transaction. */
  const sizes = new WeakMap<object, number>();

  /** Runs a step and answers; anything other than a refusal is an internal error. */
  function answer(
    session: SMTPServerSession,
    verb: string,
    step: () => Promise<string | undefined>,
    callback: (error?: Error | null, text?: string) => void,
  ): void {
    step().then(
      (text) => callback(null, text),
      (error: unknown) => {
        const reply = replyOf(error);
        if (reply === undefined && !noticeOutage(log, error))
          log[faultLevel(error)](
            { listener: 'submission', connection: session.id, verb, reason: reasonOf(error) },
            'SMTP step failed',
          );
        callback(reply ?? replyToFault(error));
      },
    );
  }

  async function authenticate(
    auth: SMTPServerAuthentication,
    session: SMTPServerSession,
    server: SubmissionServer,
  ): Promise<MailAccount> {
    const conversation = conversations.get(session.id);
    const token = auth.method === 'XOAUTH2' ? auth.accessToken : auth.password;
    if (conversation === undefined) throw loginUnavailable();
    // Nobody acts for somebody else (RFC 4616 §2): an authorization identity must be the same address.
    if (auth.authzid && auth.authzid.toLowerCase() !== auth.username?.toLowerCase()) {
      const { id: sessionId, remoteAddress: client } = session;
      const line = { mail: 'login', outcome: 'refused', listener: 'submission', session: sessionId, client } as const;
      services.mailLog.refused({ ...line, account: auth.username ?? '', reply: 'for another authorization identity' });
      throw credentialsRefused();
    }
    const { remoteAddress } = session;
    const attempt = { protocol: 'smtp', address: auth.username ?? '', token: token ?? '', remoteAddress } as const;
    const { account, onClosed } = loggedIn(await conversation.login.login(attempt));
    conversation.account = account;
    log.info({ session: session.id, mailbox: account.mailboxId, remote: remoteAddress }, 'submission login');
    onClosed(() => {
      // A message that is just coming in is refused at its end.
      delete conversation.account;
      server.end(session, '4.7.0 The mailbox was closed or its token changed');
    });
    return account;
  }

  async function submit(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    server: SubmissionServer,
  ): Promise<string> {
    const received = await spool.receive(stream, () => server.drop(session));
    sizes.set(session.envelope, received.size);
    try {
      // Looked up now: the token may have been rotated while the message was received.
      const account = conversations.get(session.id)?.account;
      const sender = account === undefined ? undefined : await findSender(services.db, account.mailboxId);
      if (sender === undefined) throw new SmtpReply(535, '5.7.8', 'The mailbox has been deleted');
      const { mailbox, organization } = sender;
      const withDomain = (address: string) =>
        isBarePostmaster(address) ? `${address}@${settings.MAIL_DOMAIN}` : address;
      const recipients = session.envelope.rcptTo.map(({ address }) => withDomain(address));
      const own = { organizationId: organization.id, id: mailbox.id, address: mailbox.address };
      const submitted = await submitBytes(
        { services, start: options.onSubmitted, origin: { listener: 'submission', ...sessionLine(session) } },
        own,
        await received.bytes(),
        {
          recipients: [...new Map(recipients.map((address) => [address.toLowerCase(), address])).values()],
          via: 'smtp',
          actor: { type: 'mailbox', id: mailbox.id, name: mailbox.name, email: null, address: mailbox.address },
          labels: [],
          clientId: null,
          notices: {
            ...messageNotices(session.envelope.mailFrom),
            recipients: new Map(
              session.envelope.rcptTo.map((to) => [withDomain(to.address).toLowerCase(), recipientNotices(to)]),
            ),
          },
        },
      );
      return submitted.consentId === null
        ? `2.0.0 accepted ${submitted.messageId}`
        : `2.0.0 held for consent ${submitted.consentId}${submitted.overBudget === null ? '' : ': over its budget of today'}`;
    } finally {
      await received.discard();
    }
  }

  function makeServer(secure: boolean): SubmissionServer {
    const submissionOptions: SMTPServerOptions = {
      name: settings.MAIL_HOSTNAME,
      banner: 'Agent Mailbox',
      heloResponse: '%s greets %s',
      logger: false,
      secure,
      size: MESSAGE_MAX_BYTES,
      rejectOversized: true,
      maxRecipients: RECIPIENTS_PER_MESSAGE_MAX,
      maxCommandLength: SMTP_LINE_MAX_BYTES,
      socketTimeout: SMTP_COMMAND_TIMEOUT_MS,
      authMethods: [...SUBMISSION_MECHANISMS],
      disabledCommands: ['XCLIENT', 'XFORWARD', 'HELP'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideREQUIRETLS: true,
      hideDSN: false,
      cert: certificate.cert,
      key: certificate.key,
      minVersion: TLS_MIN_VERSION,
      onConnect(session, callback) {
        conversations.set(session.id, { login: authenticator.forConnection(session.id) });
        callback();
      },
      onClose(session) {
        conversations.get(session.id)?.login.release();
        conversations.delete(session.id);
      },
      onAuth(auth, session, callback) {
        authenticate(auth, session, server).then(
          ({ address }) => callback(null, { user: address }),
          (error: unknown) => callback(replyOf(error) ?? loginUnavailable()),
        );
      },
      onMailFrom({ address }, session, callback) {
        const account = conversations.get(session.id)?.account;
        const own = account?.address;
        if (own !== undefined && isOneOf([own.toLowerCase()], address)) return callback();
        if (account === undefined || own === undefined)
          return callback(new SmtpReply(535, '5.7.8', 'The mailbox was closed or its token changed: log in again'));
        findOwnAddresses(services.db, account.mailboxId).then(
          (all) => {
            if (isOneOf(all, address)) return callback();
            const given = address === '' ? 'empty' : `<${address}>`;
            return callback(
              new SmtpReply(
                553,
                '5.7.1',
                `The envelope sender is ${given}, but this mailbox sends as ${own}: use MAIL FROM:<${own}>`,
              ),
            );
          },
          (error: Error) => callback(replyToFault(error)),
        );
      },
      onRcptTo({ address }, _session, callback) {
        if (isEmailAddress(address) || isBarePostmaster(address)) return callback();
        callback(new SmtpReply(553, '5.1.3', 'This is not an address mail can be sent to'));
      },
      onData(stream, session, callback) {
        answer(
          session,
          'DATA',
          () => traces.message(session, () => submit(stream, session, server)),
          (error, text) => {
            callback(error, text);
            server.afterMessage();
          },
        );
      },
    };
    const server: SubmissionServer = new SubmissionServer(submissionOptions, (refusal) => {
      const { session, step, code } = refusal;
      // The authenticator has written these, with the account.
      if (step === 'AUTH' && (code === 535 || code === 454)) return;
      const account = conversations.get(session.id)?.account;
      services.mailLog.refused({
        ...refusalLine('submission', refusal),
        listener: 'submission',
        ...(account === undefined ? {} : { account: account.address, mailboxes: [account.mailboxId] }),
        size: sizes.get(session.envelope),
      });
    });
    server.on('error', (error: Error) =>
      log.debug({ listener: 'submission', error: error.message }, 'SMTP connection failed'),
    );
    return server;
  }

  const servers = { tls: makeServer(true), starttls: makeServer(false) };
  const listeners: Listener[] = [];
  const open = async (
    name: string,
    port: number,
    server: SubmissionServer,
    secure: boolean,
  ): Promise<ListenerAddress> => {
    const listener = await openListener({
      name,
      host: settings.MAIL_HOST,
      port,
      proxyFrom: settings.MAIL_PROXY_FROM,
      answersAfterEnd: true,
      limits,
      refusal: smtpConnectionRefusal(settings.MAIL_HOSTNAME),
      log,
      mailLog: services.mailLog,
      ...(secure ? { tls: options.tls } : {}),
      serve({ id, socket, remoteAddress, remotePort }) {
        traces.begin(id, socket);
        server.connect(socket, { id, remoteAddress, remotePort });
        return { stop: () => server.drain() };
      },
    });
    listeners.push(listener);
    return { host: listener.host, port: listener.port };
  };
  const close = async (): Promise<void> => {
    for (const server of Object.values(servers)) server.drain();
    await Promise.all(listeners.map((listener) => listener.close(SMTP_DRAIN_MS)));
  };
  try {
    return {
      submission: await open('submissions', settings.SUBMISSIONS_PORT, servers.tls, true),
      submissionStarttls: await open('submission', settings.SUBMISSION_PORT, servers.starttls, false),
      useCertificate({ cert, key }) {
        servers.starttls.updateSecureContext({ cert, key });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** RFC 4954 §4. */
const loginUnavailable = (): SmtpReply => new SmtpReply(454, '4.7.0', 'Logins cannot be checked now, try again later');

const credentialsRefused = (): SmtpReply => new SmtpReply(535, '5.7.8', 'Address or token is wrong');

/** @throws {SmtpReply} */
function loggedIn(result: LoginResult): Extract<LoginResult, { kind: 'ok' }> {
  switch (result.kind) {
    case 'ok':
      return result;
    case 'refused':
      throw credentialsRefused();
    case 'not-permitted':
      throw new SmtpReply(535, '5.7.8', result.text);
    case 'throttled':
      throw new SmtpReply(454, '4.7.0', `Too many failed logins, try again in ${result.retryAfterSeconds} s`);
    case 'too-many-connections':
      throw new SmtpReply(454, '4.7.0', 'The mailbox has too many connections');
  }
}

/** RFC 5321 §4.5.3.1.5: a line of 512 octets, its codes and line break counted. */
const REPLY_TEXT_MAX_CHARACTERS = 490;

/** A refusal of `submitBytes` as an SMTP answer; undefined for an internal error. */
function replyOf(error: unknown): SmtpReply | undefined {
  if (error instanceof SmtpReply) return error;
  if (!(error instanceof CatalogueError)) return undefined;
  const details = error.details.map(({ message }) => message);
  // The details of an invalid message are more useful than the general text.
  const text = (error.code === 'invalid_request' && details.length > 0 ? details : [error.message, ...details]).join(
    ' ',
  );
  const [code, enhanced] = REPLIES[error.code] ?? [550, '5.7.1'];
  return new SmtpReply(code, enhanced, text.slice(0, REPLY_TEXT_MAX_CHARACTERS));
}

/** Refusals of the gate with a reply of their own. */
const REPLIES: Readonly<Partial<Record<ErrorCode, readonly [number, string]>>> = {
  rate_limited: [451, '4.7.1'],
  // A stop ends: clients keep the message and try again. Drafts only is for good: the client says so at once.
  sending_stopped: [450, '4.7.1'],
  drafts_only: [550, '5.7.1'],
  quota_exceeded: [452, '4.2.2'],
  payload_too_large: [552, '5.3.4'],
  invalid_request: [553, '5.7.1'],
};
