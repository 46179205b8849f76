/** The doors of mail clients: IMAP and POP3, each by TLS from the first byte and by STARTTLS. */
import type { Services } from '../core/services.ts';
import { CLIENT_CONNECTIONS_PER_SOURCE_MAX, CLIENT_DRAIN_MS } from '../domain/mail-limits.ts';
import type { Authenticator } from './authenticate.ts';
import { connectionCounter } from './connection-counter.ts';
import { serveImap } from './imap/serve.ts';
import { type Door, type DoorConnection, openDoor, type Served } from './listeners.ts';
import { servePop3 } from './pop3/serve.ts';
import type { Login } from './store/interface.ts';
import type { TlsContext } from './tls.ts';

/** Where a door listens. */
export interface DoorAddress {
  readonly host: string;
  readonly port: number;
}

export interface ClientDoors {
  readonly imap: DoorAddress;
  readonly imapStarttls: DoorAddress;
  readonly pop3: DoorAddress;
  readonly pop3Starttls: DoorAddress;
  /** Tells the clients and lets their commands finish, at most 10 s. */
  close(): Promise<void>;
}

export interface ClientDoorsOptions {
  readonly services: Pick<Services, 'settings' | 'log'>;
  readonly tls: TlsContext;
  readonly authenticator: Authenticator;
  /** Connections of one address at once, on all these doors together. */
  readonly connectionsPerSource?: number;
}

/** What a protocol needs beside the connection. */
interface ProtocolPart {
  readonly secure: boolean;
  readonly login: Login;
}

/** @throws when a port cannot be listened on; then none is */
export async function openClientDoors(options: ClientDoorsOptions): Promise<ClientDoors> {
  const { services, tls, authenticator } = options;
  const { settings, log } = services;
  const sources = connectionCounter(options.connectionsPerSource ?? CLIENT_CONNECTIONS_PER_SOURCE_MAX);
  const opened: Door[] = [];

  async function open(
    name: string,
    port: number,
    secure: boolean,
    protocol: (connection: DoorConnection, part: ProtocolPart) => Served,
  ): Promise<Door> {
    const door = await openDoor({
      name,
      host: settings.MAIL_HOST,
      port,
      proxyFrom: settings.MAIL_PROXY_FROM,
      log,
      ...(secure ? { tls } : {}),
      serve(connection) {
        if (!sources.enter(connection.id, connection.remoteAddress)) {
          log.info({ door: name, remoteAddress: connection.remoteAddress }, 'a source has too many connections');
          return undefined;
        }
        const { login, release } = authenticator.forConnection();
        connection.socket.once('close', () => {
          sources.leave(connection.id);
          release();
        });
        return protocol(connection, { secure, login });
      },
    });
    opened.push(door);
    return door;
  }

  const imap = ({ socket, remoteAddress }: DoorConnection, { secure, login }: ProtocolPart): Served => {
    const connection = serveImap(socket, {
      tls: secure,
      ...(secure ? {} : { startTls: () => tls.startTls(socket) }),
      login,
      remoteAddress,
      hostname: settings.MAIL_HOSTNAME,
      hiding: settings.IMAP_HIDE_CAPABILITIES,
      log,
    });
    return { stop: () => connection.close('The server is shutting down') };
  };

  const pop3 = ({ id, socket, remoteAddress }: DoorConnection, { secure, login }: ProtocolPart): Served =>
    servePop3(socket, {
      connectionId: id,
      remoteAddress,
      secure,
      ...(secure ? {} : { startTls: () => tls.startTls(socket) }),
      login,
      log,
    });

  const close = async (): Promise<void> => {
    await Promise.all(opened.map((door) => door.close(CLIENT_DRAIN_MS)));
  };
  try {
    return {
      imap: address(await open('imaps', settings.IMAPS_PORT, true, imap)),
      imapStarttls: address(await open('imap', settings.IMAP_PORT, false, imap)),
      pop3: address(await open('pop3s', settings.POP3S_PORT, true, pop3)),
      pop3Starttls: address(await open('pop3', settings.POP3_PORT, false, pop3)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const address = ({ host, port }: Door): DoorAddress => ({ host, port });
