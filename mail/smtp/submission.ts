/**
 * Submission (RFC 6409): a mailbox logs in with its address and token, under TLS only, and sends as itself.
 *
 *   AUTH ─▶ MAIL FROM its own address ─▶ RCPT ─▶ DATA ─▶ `submitMessage`, the gate of every door
 *
 * What is held for consent is answered 250: the client has done its part and must not send again.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { SMTPServerAuthentication, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Services } from '../../core/services.ts';
import { isEmailAddress } from '../../domain/email-address.ts';
import { CatalogueError, type ErrorCode } from '../../domain/errors.ts';
import {
  CLIENT_CONNECTIONS_PER_SOURCE_MAX,
  MESSAGE_MAX_BYTES,
  RECIPIENTS_PER_MESSAGE_MAX,
  SMTP_COMMAND_TIMEOUT_MS,
  SMTP_DRAIN_MS,
} from '../../domain/mail-limits.ts';
import { deliveryAddress } from '../../domain/mailbox-address.ts';
import type { Authenticator } from '../authenticate.ts';
import type { DoorAddress } from '../client-doors.ts';
import { connectionCounter } from '../connection-counter.ts';
import { type Door, openDoor } from '../listeners.ts';
import { findSender } from '../outbound/outbound-message.ts';
import { prepareMessage } from '../outbound/prepare-message.ts';
import { type Submitted, submitMessage } from '../outbound/submit-message.ts';
import type { LoginResult, MailAccount } from '../store/interface.ts';
import { type CertificatePair, TLS_MIN_VERSION, type TlsContext } from '../tls.ts';
import { messageNotices, recipientNotices } from './dsn-parameters.ts';
import { receiveData } from './receive-data.ts';
import { SmtpReply, unavailable } from './smtp-reply.ts';
import { SUBMISSION_MECHANISMS, SubmissionServer } from './submission-server.ts';

export interface SubmissionOptions {
  readonly services: Services;
  readonly tls: TlsContext;
  readonly certificate: CertificatePair;
  readonly authenticator: Authenticator;
  /** Told of each message after its commit, to start sending it; without it the sweep of the API processes does. */
  readonly onSubmitted?: ((submitted: Submitted) => void) | undefined;
}

export interface SubmissionDoors {
  readonly submission: DoorAddress;
  readonly submissionStarttls: DoorAddress;
  useCertificate(pair: CertificatePair): void;
  close(): Promise<void>;
}

interface Conversation {
  readonly login: ReturnType<Authenticator['forConnection']>;
  account?: MailAccount;
}

/** @throws when a port cannot be listened on; then none is */
export async function openSubmission(options: SubmissionOptions): Promise<SubmissionDoors> {
  const { services, certificate, authenticator } = options;
  const { settings, log } = services;
  const spoolFolder = path.join(settings.DATA_DIR, 'spool');
  mkdirSync(spoolFolder, { recursive: true, mode: 0o700 });
  const sources = connectionCounter(CLIENT_CONNECTIONS_PER_SOURCE_MAX);
  const conversations = new Map<string, Conversation>();

  /** Runs a step and answers; what is no refusal is trouble of ours. */
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
        const facts = { door: 'submission', connection: session.id, verb };
        if (reply === undefined) log.error({ ...facts, error: String(error) }, 'SMTP step failed');
        else log.info({ ...facts, refused: reply.message });
        callback(reply ?? unavailable());
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
    if (conversation === undefined) throw unavailable();
    // Nobody acts for somebody else (RFC 4616 §2): an authorization identity must be the same address.
    if (auth.authzid && auth.authzid.toLowerCase() !== auth.username?.toLowerCase()) throw credentialsRefused();
    const { remoteAddress } = session;
    const attempt = { door: 'smtp', address: auth.username ?? '', token: token ?? '', remoteAddress } as const;
    const { account, onClosed } = loggedIn(await conversation.login.login(attempt));
    conversation.account = account;
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
    const received = await receiveData(stream, spoolFolder, MESSAGE_MAX_BYTES, () => server.drop(session));
    if (received === 'too-large')
      throw new SmtpReply(552, '5.3.4', `The message is larger than ${MESSAGE_MAX_BYTES} bytes`);
    try {
      // Looked up now: the token may have been rotated while the message came in.
      const account = conversations.get(session.id)?.account;
      const sender = account === undefined ? undefined : await findSender(services.db, account.mailboxId);
      if (sender === undefined) throw new SmtpReply(535, '5.7.8', 'The mailbox is gone');
      const { mailbox, organization } = sender;
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const submitted = await submitMessage(services, {
        organizationId: organization.id,
        mailboxId: mailbox.id,
        prepared: prepareMessage(await received.bytes(), mailbox.address, new Date(services.now())),
        recipients: [...new Map(recipients.map((address) => [address.toLowerCase(), address])).values()],
        via: 'smtp',
        actor: { type: 'mailbox', id: mailbox.id, name: mailbox.name, email: null, address: mailbox.address },
        labels: [],
        clientId: null,
        notices: {
          ...messageNotices(session.envelope.mailFrom),
          recipients: new Map(session.envelope.rcptTo.map((to) => [to.address.toLowerCase(), recipientNotices(to)])),
        },
      });
      options.onSubmitted?.(submitted);
      return submitted.consentId === null
        ? `2.0.0 accepted ${submitted.messageId}`
        : `2.0.0 held for consent ${submitted.consentId}`;
    } finally {
      await received.discard();
    }
  }

  function makeServer(secure: boolean): SubmissionServer {
    const server: SubmissionServer = new SubmissionServer({
      name: settings.MAIL_HOSTNAME,
      banner: 'Agent Mailbox',
      heloResponse: '%s greets %s',
      logger: false,
      secure,
      size: MESSAGE_MAX_BYTES,
      rejectOversized: true,
      maxRecipients: RECIPIENTS_PER_MESSAGE_MAX,
      socketTimeout: SMTP_COMMAND_TIMEOUT_MS,
      authMethods: [...SUBMISSION_MECHANISMS],
      disabledCommands: ['XCLIENT', 'XFORWARD', 'HELP'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideDSN: false,
      cert: certificate.cert,
      key: certificate.key,
      minVersion: TLS_MIN_VERSION,
      onConnect(session, callback) {
        if (!sources.enter(session.id, session.remoteAddress))
          return callback(new SmtpReply(421, '4.7.0', 'Too many connections from your address'));
        conversations.set(session.id, { login: authenticator.forConnection() });
        callback();
      },
      onClose(session) {
        sources.leave(session.id);
        conversations.get(session.id)?.login.release();
        conversations.delete(session.id);
      },
      onAuth(auth, session, callback) {
        authenticate(auth, session, server).then(
          ({ address }) => callback(null, { user: address }),
          (error: unknown) => callback(replyOf(error) ?? unavailable()),
        );
      },
      onMailFrom({ address }, session, callback) {
        const own = conversations.get(session.id)?.account?.address;
        if (own !== undefined && deliveryAddress(address) === own.toLowerCase()) return callback();
        callback(new SmtpReply(553, '5.7.1', `The sender must be ${own ?? 'the address of the mailbox'}`));
      },
      onRcptTo({ address }, _session, callback) {
        if (isEmailAddress(address)) return callback();
        callback(new SmtpReply(553, '5.1.3', 'This is no address mail can be sent to'));
      },
      onData(stream, session, callback) {
        answer(
          session,
          'DATA',
          () => submit(stream, session, server),
          (error, text) => {
            callback(error, text);
            server.afterMessage();
          },
        );
      },
    });
    server.on('error', (error: Error) =>
      log.debug({ door: 'submission', error: error.message }, 'SMTP connection failed'),
    );
    return server;
  }

  const servers = { tls: makeServer(true), starttls: makeServer(false) };
  const doors: Door[] = [];
  const open = async (name: string, port: number, server: SubmissionServer, secure: boolean): Promise<DoorAddress> => {
    const door = await openDoor({
      name,
      host: settings.MAIL_HOST,
      port,
      proxyFrom: settings.MAIL_PROXY_FROM,
      log,
      ...(secure ? { tls: options.tls } : {}),
      serve({ socket, remoteAddress, remotePort }) {
        server.connect(socket, { remoteAddress, remotePort });
        return { stop: () => server.drain() };
      },
    });
    doors.push(door);
    return { host: door.host, port: door.port };
  };
  const close = async (): Promise<void> => {
    for (const server of Object.values(servers)) server.drain();
    await Promise.all(doors.map((door) => door.close(SMTP_DRAIN_MS)));
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

const credentialsRefused = (): SmtpReply => new SmtpReply(535, '5.7.8', 'Address or token is wrong');

/** @throws {SmtpReply} */
function loggedIn(result: LoginResult): Extract<LoginResult, { kind: 'ok' }> {
  switch (result.kind) {
    case 'ok':
      return result;
    case 'refused':
      throw credentialsRefused();
    case 'throttled':
      throw new SmtpReply(454, '4.7.0', `Too many failed logins, try again in ${result.retryAfterSeconds} s`);
    case 'too-many-connections':
      throw new SmtpReply(454, '4.7.0', 'The mailbox has too many connections');
  }
}

/** What the gate refused, as SMTP says it; undefined for trouble of ours. */
function replyOf(error: unknown): SmtpReply | undefined {
  if (error instanceof SmtpReply) return error;
  if (!(error instanceof CatalogueError)) return undefined;
  const text = [error.message, ...error.details.map(({ message }) => message)].join(' ');
  const [code, enhanced] = REPLIES[error.code] ?? [550, '5.7.1'];
  return new SmtpReply(code, enhanced, text);
}

/** Refusals of the gate with a reply of their own. */
const REPLIES: Readonly<Partial<Record<ErrorCode, readonly [number, string]>>> = {
  rate_limited: [451, '4.7.1'],
  quota_exceeded: [452, '4.2.2'],
  payload_too_large: [552, '5.3.4'],
  invalid_request: [553, '5.7.1'],
};
