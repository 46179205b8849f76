/**
 * The certificate of the mail doors: TLS_CERT and TLS_KEY, else the development certificate in `DATA_DIR/tls`. It is
 * read again when a file changes, without dropping connections; a pair that does not fit is left until it does.
 */

import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import type { Logger } from '../core/logger.ts';
import { type Settings, SettingsError } from '../core/settings.ts';

export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateFiles {
  readonly current: CertificatePair;
  close(): void;
}

/** TLS of a door, by the certificate of the moment. */
export interface TlsContext {
  /** The server's side of TLS over a socket nobody has read from. */
  upgrade(socket: net.Socket): tls.TLSSocket;
  /**
   * The same after STARTTLS, when nobody listens to the socket's data any more. Input that came before the handshake may
   * be somebody else's and is thrown away; what was written goes out first.
   *
   * @throws when the connection is lost
   */
  startTls(socket: net.Socket): Promise<tls.TLSSocket>;
  /** For connections from now on. */
  useCertificate(pair: CertificatePair): void;
}

const POLL_MS = 5_000;
export const TLS_MIN_VERSION = 'TLSv1.2';

export function tlsContext(pair: CertificatePair): TlsContext {
  const contextOf = ({ cert, key }: CertificatePair) =>
    tls.createSecureContext({ cert, key, minVersion: TLS_MIN_VERSION });
  let secureContext = contextOf(pair);
  const upgrade = (socket: net.Socket) => new tls.TLSSocket(socket, { isServer: true, secureContext });
  return {
    upgrade,
    async startTls(socket) {
      socket.pause();
      while (socket.read() !== null);
      if (socket.writableLength > 0)
        await new Promise<void>((resolve) => socket.once('drain', resolve).once('close', resolve));
      if (socket.destroyed) throw new Error('the connection was lost before TLS');
      return upgrade(socket);
    },
    useCertificate(changed) {
      secureContext = contextOf(changed);
    },
  };
}

/**
 * @param onChange called with each new pair that holds
 * @throws {SettingsError} when there is no usable certificate
 */
export async function openCertificate(
  settings: Settings,
  log: Logger,
  onChange: (pair: CertificatePair) => void,
): Promise<CertificateFiles> {
  const certFile = settings.TLS_CERT ?? path.join(settings.DATA_DIR, 'tls', 'host.pem');
  const keyFile = settings.TLS_KEY ?? path.join(settings.DATA_DIR, 'tls', 'host.key');
  const read = async (): Promise<CertificatePair> => {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    tls.createSecureContext({ cert, key }); // throws when the two do not belong together
    return { cert, key };
  };
  let current: CertificatePair;
  try {
    current = await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError([
      `the certificate of the mail doors cannot be used (${certFile}, ${keyFile}): ${reason}. Set TLS_CERT and TLS_KEY, or let \`npm start\` make a development certificate`,
    ]);
  }
  const reload = () => {
    read().then(
      (pair) => {
        if (pair.cert.equals(current.cert) && pair.key.equals(current.key)) return;
        current = pair;
        onChange(pair);
        log.info({ certFile }, 'the certificate of the mail doors was reloaded');
      },
      (error: Error) =>
        log.warn({ certFile, error: error.message }, 'the changed certificate cannot be used; the old one stays'),
    );
  };
  // Polling, because certificates are often replaced through symbolic links, which change events do not follow.
  for (const file of [certFile, keyFile]) watchFile(file, { interval: POLL_MS, persistent: false }, reload);
  return {
    get current() {
      return current;
    },
    close() {
      for (const file of [certFile, keyFile]) unwatchFile(file, reload);
    },
  };
}
