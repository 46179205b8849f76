/**
 * The environment of the trust benchmarks: PostgreSQL and Temporal as for tests, the API and the mail listeners. What is
 * measured is decided when a message is submitted, so no worker runs and nothing leaves.
 */
import { rmSync } from 'node:fs';
import nodemailer from 'nodemailer';
import { type MailListeners, startMail } from '#mail/start.ts';
import { makeScratchFolder } from '#test/runner/scratch-folder.ts';
import { startTestServers } from '#test/runner/test-servers.ts';
import { type ApiWorld, apiWorld, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';

export interface File {
  readonly filename: string;
  readonly contentType: string;
  readonly text?: string;
  readonly base64?: string;
}

/** Mail from outside. */
export interface ArrivingMail {
  readonly from: string;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly attachments?: readonly File[];
  /** Further addresses in To. */
  readonly alsoTo?: readonly string[];
  readonly inReplyTo?: string;
}

export const PROTOCOLS = ['rest', 'mcp', 'smtp', 'draft', 'scheduled'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Mail that an agent sends. */
export interface SentMail {
  readonly protocol: Protocol;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly attachments?: readonly File[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Id of the message that it answers. */
  readonly answers?: string;
}

/** `held:` and the reason, `refused:` and the code, or `left`. */
export type Outcome = string;

export interface TrustWorld {
  readonly api: ApiWorld;
  newOrganization(settings: object): Promise<TestOrganization>;
  /** @returns its id */
  receive(to: TestMailbox, mail: ArrivingMail): Promise<string>;
  send(from: TestMailbox, mail: SentMail): Promise<Outcome>;
  /** Until what arrived was read in the background. */
  allRead(): Promise<void>;
  close(): Promise<void>;
}

const bytesOf = ({ text, base64 }: File): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
const READ_EVERY_MS = 100;

const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });

async function composed(
  mail: Omit<ArrivingMail, 'alsoTo'> & {
    readonly to: readonly string[];
    readonly cc?: readonly string[];
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { message } = await composer.sendMail({
    from: mail.from,
    to: [...mail.to],
    cc: [...(mail.cc ?? [])],
    subject: mail.subject,
    ...(mail.text === undefined ? {} : { text: mail.text }),
    ...(mail.html === undefined ? {} : { html: mail.html }),
    ...(mail.inReplyTo === undefined ? {} : { inReplyTo: mail.inReplyTo }),
    ...(mail.headers === undefined ? {} : { headers: { ...mail.headers } }),
    attachments: (mail.attachments ?? []).map((file) => ({
      filename: file.filename,
      contentType: file.contentType,
      content: bytesOf(file),
    })),
  });
  if (!Buffer.isBuffer(message)) throw new Error('the transport gives a stream');
  return message.toString();
}

export async function openTrustWorld(say: (text: string) => void): Promise<TrustWorld> {
  const { folder, temporary } = makeScratchFolder();
  const servers = await startTestServers(folder, say);
  Object.assign(process.env, servers.environment, { TMPDIR: temporary });
  const api = await apiWorld();
  const mail: MailListeners = await startMail(api.services, { lookup: dnsStub({}), onSubmitted: () => {} });
  return {
    api,
    async newOrganization(settings) {
      const organization = await api.newOrganization('unlimited');
      const body = { settings };
      const answer = await api.call('PATCH', '/api/organization', { as: organization.owner.session, body });
      if (answer.status !== 200) throw new Error(answer.text);
      return organization;
    },
    async receive(to, { alsoTo = [], ...given }) {
      const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
      const bytes = await composed({ ...given, to: [to.address, ...alsoTo] });
      const answer = await client.send(/[^\s<>]+@[^\s<>]+/.exec(given.from)?.[0] ?? '', [to.address], bytes);
      client.close();
      const id = /msg_\w+/.exec(answer)?.[0];
      if (id === undefined) throw new Error(`not accepted: ${answer}`);
      return id;
    },
    async send(from, given) {
      await api.sql(`delete from rate_limits`);
      const outcome = await submit(api, mail, from, given);
      const consentId = /con_[0-9a-z]{26}/.exec(outcome)?.[0];
      if (consentId === undefined) return outcome;
      const [row] = await api.sql(`select held_because from consent where id = $1`, [consentId]);
      return `held:${String(row?.['held_because'])}`;
    },
    async allRead() {
      while ((await api.sql('select 1 from carried_due limit 1')).length > 0)
        await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
    },
    async close() {
      await mail.close();
      await api.close();
      await servers.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns text with the id of the consent, `refused:` and the code, or `left` */
async function submit(api: ApiWorld, mail: MailListeners, from: TestMailbox, given: SentMail): Promise<string> {
  const { protocol, answers, to, cc = [], bcc = [], subject, text, html, attachments = [] } = given;
  const letter = {
    to,
    ...(cc.length > 0 ? { cc } : {}),
    ...(bcc.length > 0 ? { bcc } : {}),
    subject,
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(attachments.length === 0
      ? {}
      : {
          attachments: attachments.map((file) => ({
            filename: file.filename,
            contentType: file.contentType,
            contentBase64: bytesOf(file).toString('base64'),
          })),
        }),
  };
  const call = async (path: string, body: object): Promise<string> => {
    const answer = await api.call('POST', `/api/mailbox/${path}`, { as: from.token, body });
    if (answer.status >= 400) return `refused:${textAt(answer.body, 'error', 'code')}`;
    return answer.status === 202 && 'consentId' in Object(answer.body)
      ? String(Reflect.get(Object(answer.body), 'consentId') ?? 'left')
      : answer.text;
  };
  switch (protocol) {
    case 'rest': {
      const { to: _, cc: __, bcc: ___, subject: ____, ...reply } = letter;
      return leftUnlessHeld(
        answers === undefined ? await call('messages', letter) : await call(`messages/${answers}/reply`, reply),
      );
    }
    case 'scheduled':
      return leftUnlessHeld(
        await call('messages', { ...letter, sendAt: new Date(Date.now() + 3_600_000).toISOString() }),
      );
    case 'draft': {
      const made = await api.call('POST', '/api/mailbox/drafts', { as: from.token, body: letter });
      if (made.status !== 201) return `refused:${made.text.slice(0, 200)}`;
      return leftUnlessHeld(await call(`drafts/${textAt(made.body, 'id')}/send`, {}));
    }
    case 'mcp': {
      const answer = await api.call('POST', '/mcp', {
        as: from.token,
        headers: { accept: 'application/json, text/event-stream' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'send_message', arguments: letter },
        },
      });
      if (answer.text.includes('"isError":true')) return `refused:${answer.text.slice(0, 300)}`;
      return leftUnlessHeld(answer.text);
    }
    case 'smtp': {
      const password = (from.token['authorization'] ?? '').replace('Bearer ', '');
      const client = await logIn(mail.submissionStarttls, { address: from.address, token: password });
      const bytes = await composed({
        from: from.address,
        to,
        cc,
        subject,
        attachments,
        ...(text === undefined ? {} : { text }),
        ...(html === undefined ? {} : { html }),
        ...(given.headers === undefined ? {} : { headers: given.headers }),
      });
      const answer = await client.send(from.address, [...to, ...cc, ...bcc], bytes);
      client.close();
      return answer.startsWith('2') ? leftUnlessHeld(answer) : `refused:${answer}`;
    }
  }
}

const leftUnlessHeld = (answer: string): string =>
  answer.startsWith('refused:') ? answer : (/con_[0-9a-z]{26}/.exec(answer)?.[0] ?? 'left');
