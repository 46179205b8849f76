/** The listeners for mail clients: IMAP and POP3, each with TLS from the first byte and with STARTTLS. */

import { serveImap } from '@agent-mailbox/imap';
import type { Login } from '@agent-mailbox/mail-store';
import { servePop3 } from '@agent-mailbox/pop3';
import type { Services } from '#core/platform/process/services.ts';
import { CLIENT_DRAIN_MS, MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { type ConnectionLimits, connectionCounter, connectionTotal } from './connection-counter.ts';
import { type Listener, type ListenerConnection, openListener, type Served } from './listeners.ts';
import type { Authenticator } from './login/mailbox-login.ts';
import type { TlsContext } from './tls.ts';

/** What the server calls itself to clients. */
const SERVER_NAME = 'Agent Mailbox';

/** Address and port of a listener. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ClientListeners {
  readonly imap: ListenerAddress;
  readonly imapStarttls: ListenerAddress;
  readonly pop3: ListenerAddress;
  readonly pop3Starttls: ListenerAddress;
  /** Notifies the clients and lets their commands finish, at most 10 s. */
  close(): Promise<void>;
}

export interface ClientListenersOptions {
  readonly services: Pick<Services, 'settings' | 'log' | 'mailLog'>;
  readonly tls: TlsContext;
  readonly authenticator: Authenticator;
  /** Maximum concurrent connections of one address, to all these listeners together. */
  readonly connectionsPerSource?: number;
}

/** The dependencies of a protocol, except the connection. */
interface ProtocolPart {
  readonly secure: boolean;
  readonly login: Login;
}

/** @throws when a port cannot be listened on; then none is */
export async function openClientListeners(options: ClientListenersOptions): Promise<ClientListeners> {
  const { services, tls, authenticator } = options;
  const { settings, log, mailLog } = services;
  const sources = connectionCounter(options.connectionsPerSource ?? settings.MAIL_CLIENTS_PER_ADDRESS);
  const imapLimits = { sources, total: connectionTotal(settings.IMAP_MAX_CLIENTS) };
  const pop3Limits = { sources, total: connectionTotal(settings.POP3_MAX_CLIENTS) };
  const opened: Listener[] = [];

  async function open(
    name: string,
    port: number,
    secure: boolean,
    { limits, refusal }: { readonly limits: ConnectionLimits; refusal(reason: string): string },
    protocol: (connection: ListenerConnection, part: ProtocolPart) => Served,
  ): Promise<Listener> {
    const listener = await openListener({
      name,
      host: settings.MAIL_HOST,
      port,
      proxyFrom: settings.MAIL_PROXY_FROM,
      limits,
      refusal,
      answersAfterEnd: true,
      log,
      mailLog,
      ...(secure ? { tls } : {}),
      serve(connection) {
        const { login, release } = authenticator.forConnection(connection.id);
        connection.socket.once('close', release);
        return protocol(connection, { secure, login });
      },
    });
    opened.push(listener);
    return listener;
  }

  const imap = ({ id, socket, remoteAddress }: ListenerConnection, { secure, login }: ProtocolPart): Served => {
    const connection = serveImap(socket, {
      connectionId: id,
      tls: secure,
      ...(secure ? {} : { startTls: () => tls.startTls(socket) }),
      login,
      remoteAddress,
      hostname: settings.MAIL_HOSTNAME,
      serverName: SERVER_NAME,
      messageMaxBytes: MESSAGE_MAX_BYTES,
      hiding: settings.IMAP_HIDE_CAPABILITIES,
      log,
    });
    return { stop: () => connection.close('The server is shutting down') };
  };

  const pop3 = ({ id, socket, remoteAddress }: ListenerConnection, { secure, login }: ProtocolPart): Served =>
    servePop3(socket, {
      connectionId: id,
      remoteAddress,
      secure,
      ...(secure ? {} : { startTls: () => tls.startTls(socket) }),
      login,
      serverName: SERVER_NAME,
      log,
    });

  const imapRules = { limits: imapLimits, refusal: (reason: string) => `* BYE [UNAVAILABLE] ${reason}\r\n` };
  const pop3Rules = { limits: pop3Limits, refusal: (reason: string) => `-ERR [SYS/TEMP] ${reason}\r\n` };
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((listener) => listener.close(CLIENT_DRAIN_MS)));
  };
  try {
    return {
      imap: address(await open('imaps', settings.IMAPS_PORT, true, imapRules, imap)),
      imapStarttls: address(await open('imap', settings.IMAP_PORT, false, imapRules, imap)),
      pop3: address(await open('pop3s', settings.POP3S_PORT, true, pop3Rules, pop3)),
      pop3Starttls: address(await open('pop3', settings.POP3_PORT, false, pop3Rules, pop3)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const address = ({ host, port }: Listener): ListenerAddress => ({ host, port });
