/** As much of an IMAP client as a probe needs: TLS from the first byte, a login, a search, the mail found, its removal. */
import { once } from 'node:events';
import tls from 'node:tls';

const ANSWER_MAX_BYTES = 1_048_576;

export interface ImapPlace {
  readonly host: string;
  readonly port: number;
  /** Name that its certificate must have. */
  readonly serverName: string;
  /** PEM, for a certificate that the system does not trust. */
  readonly ca: string | undefined;
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

class ImapSession {
  readonly #socket: tls.TLSSocket;
  #received = '';
  #fault: Error | undefined;
  #wake = () => {};
  #commands = 0;

  constructor(socket: tls.TLSSocket) {
    this.#socket = socket;
    socket
      .setEncoding('latin1')
      .on('data', (chunk: string) => {
        this.#received += chunk;
        this.#wake();
      })
      .on('error', (error) => {
        this.#fault ??= error;
      })
      .on('close', () => {
        this.#fault ??= new Error('IMAP: the connection was closed');
        this.#wake();
      });
  }

  /** @returns what came up to the line that matches, which is included */
  async #until(last: RegExp): Promise<string> {
    for (;;) {
      const found = last.exec(this.#received);
      if (found !== null) {
        const end = found.index + found[0].length;
        const text = this.#received.slice(0, end);
        this.#received = this.#received.slice(end);
        return text;
      }
      if (this.#received.length > ANSWER_MAX_BYTES) throw new Error('IMAP: the answer is too long');
      if (this.#fault !== undefined) throw this.#fault;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }

  async greeting(): Promise<void> {
    const line = await this.#until(/^.*\r\n/);
    if (!line.startsWith('* OK')) throw new Error(`IMAP: greeted by ${line.trim().slice(0, 200)}`);
  }

  /** @param shown what an error says in place of the command, if that contains a secret */
  async command(text: string, shown = text): Promise<string> {
    const tag = `p${++this.#commands}`;
    this.#socket.write(`${tag} ${text}\r\n`);
    const answer = await this.#until(new RegExp(`^${tag} .*\\r\\n`, 'm'));
    const end = answer.slice(answer.lastIndexOf(`${tag} `)).trim();
    if (!end.startsWith(`${tag} OK`)) throw new Error(`IMAP: ${shown}: ${end.slice(0, 200)}`);
    return answer;
  }
}

interface Reading {
  readonly user: string;
  readonly token: string;
  /** Of every mail of a probe; they are removed afterwards. */
  readonly subjectBegin: string;
  /** In the subject of the mail that must be there; undefined: a login and the list will do. */
  readonly mark: string | undefined;
}

/**
 * Logs in, looks for the mail, reads it, and removes it with what earlier probes left.
 *
 * @throws {Error} with the step that failed
 */
export async function readByImap(place: ImapPlace, reading: Reading, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { host, port, serverName, ca } = place;
  const socket = tls.connect({ host, port, servername: serverName, ...(ca === undefined ? {} : { ca }) });
  const abort = () => socket.destroy(new Error('IMAP: no answer in time'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    await once(socket, 'secureConnect');
    const session = new ImapSession(socket);
    await session.greeting();
    await session.command(`LOGIN ${quoted(reading.user)} ${quoted(reading.token)}`, 'LOGIN');
    await session.command('SELECT INBOX');
    const search = async (text: string): Promise<string[]> => {
      const answer = await session.command(`UID SEARCH SUBJECT ${quoted(text)}`);
      return (
        /^\* SEARCH([ \d]*)/m
          .exec(answer)?.[1]
          ?.split(' ')
          .filter((uid) => uid !== '') ?? []
      );
    };
    if (reading.mark !== undefined) {
      const [uid] = await search(reading.mark);
      if (uid === undefined) throw new Error('IMAP: the accepted mail is not in INBOX');
      const mail = await session.command(`UID FETCH ${uid} (BODY.PEEK[])`);
      if (!mail.includes(reading.mark)) throw new Error('IMAP: the mail has another content');
    }
    const left = await search(reading.subjectBegin);
    if (left.length > 0) {
      await session.command(`UID STORE ${left.join(',')} +FLAGS.SILENT (\\Deleted)`);
      await session.command(`UID EXPUNGE ${left.join(',')}`);
    }
    await session.command('LOGOUT');
  } finally {
    signal.removeEventListener('abort', abort);
    socket.on('error', () => {});
    socket.destroy();
  }
}
