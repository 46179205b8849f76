/**
 * The environment of mail tests: an organization with mailboxes, the inbound listener on a free port, a client for it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { createMailFolders } from '#db/queries/mailboxes/mail-folders.ts';
import type { MailboxStatus } from '#domain/organizations/mailboxes.ts';
import type { DnsLookup } from '#mail/smtp/dns-resolver.ts';
import { type MailListeners, type MailOptions, startMail } from '#mail/start.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { openTestServices } from './services.ts';

export interface TestMailbox {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

interface MailboxOptions {
  readonly quotaBytes?: number;
  readonly status?: MailboxStatus;
}

export interface MailWorld {
  readonly services: Services;
  readonly mail: MailListeners;
  readonly organizationId: string;
  createMailbox(localPart: string, options?: MailboxOptions): Promise<TestMailbox>;
  connect(): Promise<SmtpClient>;
  /** Sends one message on a connection of its own; the reply of DATA, or of what was refused before. */
  send(to: string | readonly string[], message: string | Buffer, from?: string): Promise<string>;
  /** The rules of the store that do not hold, in words; empty is well. */
  faults(): Promise<string[]>;
  close(): Promise<void>;
}

const QUOTA_BYTES = 1_073_741_824;

/** TXT records by name; everything else does not exist. */
export const dnsStub =
  (records: Readonly<Record<string, string>> = {}): DnsLookup =>
  async (name, type) => {
    const value = type === 'TXT' ? records[name.toLowerCase()] : undefined;
    if (value !== undefined) return [[value]];
    throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' });
  };

/** A mailbox with its folders, without the way through the API. */
export async function insertMailbox(
  services: Services,
  organizationId: string,
  localPart: string,
  { quotaBytes = QUOTA_BYTES, status = 'active' }: MailboxOptions = {},
): Promise<TestMailbox> {
  const [id, token, address] = [newId('mailbox'), newCredential('mailboxToken'), `${localPart}@agents.test`];
  await services.db.transaction(async (sql) => {
    await sql.query(
      `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
       values ($1, $2, $3, 'agents.test', $4, $3, $5, 'synced', $6)`,
      [id, organizationId, localPart, address, status, hashCredential(token, services.pepper)],
    );
    await createMailFolders(sql, id, quotaBytes);
  });
  return { id, address, token };
}

export async function openMailWorld(
  options: MailOptions & { settings?: Readonly<Record<string, string>> } = {},
): Promise<MailWorld> {
  const { settings, ...mailOptions } = options;
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'mail-test-'));
  const services = await openTestServices({ DATA_DIR: dataFolder, ...settings });
  const organizationId = newId('organization');
  await services.db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Acme', $2, 'unlimited')`, [
    organizationId,
    `acme-${randomBytes(4).toString('hex')}`,
  ]);
  const mail = await startMail(services, { lookup: dnsStub(), ...mailOptions });
  const world: MailWorld = {
    services,
    mail,
    organizationId,
    createMailbox: (localPart, mailboxOptions) => insertMailbox(services, organizationId, localPart, mailboxOptions),
    connect: () => SmtpClient.open(mail.smtp.host, mail.smtp.port),
    async send(to, message, from = 'bob@example.com') {
      const client = await world.connect();
      try {
        return await client.send(from, typeof to === 'string' ? [to] : to, message);
      } finally {
        client.close();
      }
    },
    async faults() {
      const results = await checkMailStore(services.db, { all: true });
      return results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`));
    },
    async close() {
      await mail.close();
      await services.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
  return world;
}

/** A client without own logic, so that tests can break the rules too. */
export class SmtpClient {
  socket: net.Socket;
  #buffer = '';
  #lines: string[] = [];
  #waiting: ((line: string) => void)[] = [];
  #lost = false;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen();
  }

  static async open(host: string, port: number): Promise<SmtpClient> {
    const socket = net.connect(port, host);
    const client = new SmtpClient(socket);
    await once(socket, 'connect');
    await client.reply();
    return client;
  }

  #listen(): void {
    this.socket.on('data', (chunk: Buffer) => {
      this.#buffer += chunk.toString('latin1');
      for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
        this.#deliver(this.#buffer.slice(0, end));
        this.#buffer = this.#buffer.slice(end + 2);
      }
    });
    const lost = () => {
      this.#lost = true;
      for (const waiting of this.#waiting.splice(0)) waiting('000 connection lost');
    };
    this.socket.on('close', lost).on('error', lost);
  }

  #deliver(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  #line(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#lost) return Promise.resolve('000 connection lost');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whole reply; the lines of a long one are joined by line feeds. */
  async reply(): Promise<string> {
    const lines = [await this.#line()];
    while (lines.at(-1)?.[3] === '-') lines.push(await this.#line());
    return lines.join('\n');
  }

  command(line: string): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return this.reply();
  }

  async startTls(caFile: Buffer): Promise<void> {
    await this.command('STARTTLS');
    this.socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
    const secure = tls.connect({ socket: this.socket, ca: caFile, servername: 'localhost' });
    await once(secure, 'secureConnect');
    this.socket = secure;
    this.#listen();
  }

  /** MAIL, RCPT, DATA and the message, dot-stuffed; stops at the first refusal and answers it. */
  async send(from: string, to: readonly string[], message: string | Buffer): Promise<string> {
    for (const line of [
      'EHLO client.test',
      `MAIL FROM:<${from}>${/^[ -~]*$/.test([from, ...to].join('')) ? '' : ' SMTPUTF8'}`,
      ...to.map((each) => `RCPT TO:<${each}>`),
      'DATA',
    ]) {
      const reply = await this.command(line);
      if (!/^[23]/.test(reply)) return reply;
    }
    return this.data(message);
  }

  data(message: string | Buffer): Promise<string> {
    const text = typeof message === 'string' ? message.replace(/\r?\n/g, '\r\n') : message.toString('latin1');
    const stuffed = text.replace(/^\./gm, '..');
    this.socket.write(
      Buffer.from(
        `${stuffed}${stuffed.endsWith('\r\n') ? '' : '\r\n'}.\r\n`,
        typeof message === 'string' ? 'utf8' : 'latin1',
      ),
    );
    return this.reply();
  }

  close(): void {
    this.socket.end();
  }
}

let messageNumber = 0;

/** A small message with a Message-ID of its own. */
export const letter = (subject = 'Hello', header = '', body = 'Some words.\n'): string =>
  `From: Bob Builder <bob@example.com>\nTo: agent@agents.test\nSubject: ${subject}\nMessage-ID: <${++messageNumber}.${randomBytes(6).toString('hex')}@example.com>\n${header}\n${body}`;
