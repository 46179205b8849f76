/**
 * The certificate of the mail listeners: TLS_CERT and TLS_KEY, else the development certificate in `DATA_DIR/tls`. It is
 * read again when a file changes, without dropping connections; a pair that does not fit is left until it does.
 */

import { readFile } from 'node:fs/promises';
import type net from 'node:net';
import tls from 'node:tls';
import { field, OPENSSL_TEXT } from '#client/tls-failure.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { certificateFiles, type Settings, SettingsError } from '#core/platform/settings/settings.ts';

export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateFiles {
  readonly current: CertificatePair;
  close(): void;
}

/** TLS of a listener, with the current certificate. */
export interface TlsContext {
  /** The server's side of TLS over an unread socket. */
  upgrade(socket: net.Socket): tls.TLSSocket;
  /**
   * The same after STARTTLS, when the socket's data has no other reader. Input before the handshake may be injected and
   * is discarded; written output is sent first.
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
  const upgrade = (socket: net.Socket) => endWithClient(new tls.TLSSocket(socket, { isServer: true, secureContext }));
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
 * Ends the connection of a client that disconnects before the handshake is complete. With half-open connections
 * allowed, TLS would wait for the rest of the handshake.
 */
export function endWithClient(secured: tls.TLSSocket): tls.TLSSocket {
  const end = () => secured.destroy();
  return secured.once('end', end).once('secure', () => secured.off('end', end));
}

/**
 * The certificate and its key.
 *
 * @throws {SettingsError} if there is no usable certificate
 */
export async function readCertificate(settings: Settings): Promise<CertificatePair> {
  const { certFile, keyFile } = certificateFiles(settings);
  try {
    return await readPair(certFile, keyFile);
  } catch (error) {
    throw new SettingsError([
      `the certificate of the mail listeners cannot be used (${certFile}, ${keyFile}): ${certificateFailureOf(error) ?? reasonOf(error)}. Set TLS_CERT and TLS_KEY, or let \`npm start\` make a development certificate`,
    ]);
  }
}

async function readPair(certFile: string, keyFile: string): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  tls.createSecureContext({ cert, key }); // throws when the two do not belong together
  return { cert, key };
}

/**
 * @param onChange called with each new valid pair
 * @throws {SettingsError} if there is no usable certificate
 */
export async function openCertificate(
  settings: Settings,
  log: Logger,
  onChange: (pair: CertificatePair) => void,
): Promise<CertificateFiles> {
  const { certFile, keyFile } = certificateFiles(settings);
  let current = await readCertificate(settings);
  /** Said once, not at every look. */
  let reported = '';
  async function look(): Promise<void> {
    try {
      const pair = await readPair(certFile, keyFile);
      reported = '';
      if (pair.cert.equals(current.cert) && pair.key.equals(current.key)) return;
      current = pair;
      onChange(pair);
      log.info({ certFile }, 'the certificate of the mail listeners was reloaded');
    } catch (error) {
      const reason = certificateFailureOf(error) ?? reasonOf(error);
      if (reason !== reported)
        log.warn({ certFile, error: reason }, 'the changed certificate cannot be used; the old one stays in use');
      reported = reason;
    }
  }
  // The files are read, not watched: certificates are often replaced through symbolic links, and a watch that begins
  // after the first read misses a change between the two.
  const timer = setInterval(() => void look(), POLL_MS).unref();
  return {
    get current() {
      return current;
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** Reasons why files of a certificate cannot be used. @returns undefined: it is none of OpenSSL */
export function certificateFailureOf(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : String(error);
  if (!OPENSSL_TEXT.test(text) && !field(error, 'code').startsWith('ERR_OSSL')) return undefined;
  if (/key values mismatch/i.test(text)) return 'the key does not belong to the certificate';
  if (/no start line|bad base64|bad end line|not enough data|wrong tag|too long/i.test(text))
    return 'a file is not in PEM format';
  if (/key too small|md too weak/i.test(text)) return 'the key or the signature of the certificate is too weak';
  if (/bad decrypt|password|empty password|interrupted or cancelled/i.test(text))
    return 'the key is protected by a passphrase: store it without one';
  return 'a file is damaged or of an unsupported kind';
}
