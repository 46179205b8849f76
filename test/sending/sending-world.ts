/** The whole service for tests of sending: REST and submission by SMTP over one database, a worker, a relay outside. */
import { type MailListeners, type MailOptions, startMail } from '#mail/start.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { type RelayOptions, relayTransport } from '#sending/transports/choose-transport.ts';
import type { Transport } from '#sending/transports/transport.ts';
import { type ApiWorld, apiWorld, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { logIn } from '#test/support/submission-client.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';

export const SENDING_ENTRY_POINTS = ['REST', 'SMTP'] as const;
export type SendingEntryPoint = (typeof SENDING_ENTRY_POINTS)[number];

export interface Letter {
  readonly to: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  /** The message it answers, with its Message-ID. By REST the reply is also sent to the recipients of that one. */
  readonly answers?: { readonly id: string; readonly header: string };
}

export interface Answered {
  readonly kind: 'accepted' | 'held' | 'refused';
  /** Of the message; empty when it was refused. */
  readonly id: string;
  /** Empty unless it is held. */
  readonly consentId: string;
  /** REST: status, error code and text; SMTP: the reply. */
  readonly words: string;
  /** Seconds, where REST says when to try again. */
  readonly retryAfter: number | null;
}

export interface SendingWorld {
  readonly api: ApiWorld;
  readonly mail: MailListeners;
  readonly peer: Peer;
  /** Submits a message as this mailbox. */
  send(entry: SendingEntryPoint, from: TestMailbox, letter: Letter): Promise<Answered>;
  /** What `GET …/status` says. */
  status(from: TestMailbox, id: string): Promise<unknown>;
  /** Waits until the status of the message is this one. */
  reaches(from: TestMailbox, id: string, status: string): Promise<void>;
  /** Subjects in a folder, newest first. */
  folder(mailbox: TestMailbox, name: string): Promise<string[]>;
  /** Data of the events of this type about a message, oldest first. */
  events(type: string, messageId: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export const passwordOf = ({ token }: Pick<TestMailbox, 'token'>): string =>
  (token['authorization'] ?? '').replace('Bearer ', '');

/** On a busy machine too. */
const PATIENCE_MS = 60_000;

export async function openSendingWorld(
  options: {
    readonly settings?: Readonly<Record<string, string>>;
    readonly mail?: MailOptions;
    readonly relay?: Partial<RelayOptions>;
    /** Instead of the relay. */
    readonly transport?: Transport;
  } = {},
): Promise<SendingWorld> {
  const api = await apiWorld({ OUTBOUND_RETRY_DELAYS_MS: '100', ...options.settings });
  const { services, temporal } = api;
  const mail = await startMail(services, {
    clients: { failureDelayMs: () => 10 },
    onSubmitted: (submitted) => void startOutbound(services, temporal, submitted),
    ...options.mail,
  });
  const peer = await startPeer();
  const connection = await temporalConnection();
  const worker = await startTestWorker(services, connection, {
    transport: options.transport ?? relayTransport({ url: peer.url, hostname: 'mail.test', ...options.relay }),
  });

  async function byRest(from: TestMailbox, { to, subject = 'Hello', text = 'Some words.', answers }: Letter) {
    const path = answers === undefined ? '' : `/${answers.id}/reply`;
    const answer = await api.call('POST', `/api/mailbox/messages${path}`, {
      as: from.token,
      body: { to, subject, text },
    });
    const held = answer.status === 202;
    const refused = answer.status >= 400;
    const retryAfter = answer.headers.get('retry-after');
    return {
      kind: refused ? ('refused' as const) : held ? ('held' as const) : ('accepted' as const),
      id: refused ? '' : textAt(answer.body, 'id'),
      consentId: held ? textAt(answer.body, 'consentId') : '',
      words: `${answer.status} ${answer.text}`,
      retryAfter: retryAfter === null ? null : Number(retryAfter),
    };
  }

  async function bySmtp(from: TestMailbox, { to, subject = 'Hello', text = 'Some words.', answers }: Letter) {
    const client = await logIn(mail.submissionStarttls, { address: from.address, token: passwordOf(from) });
    const about = answers === undefined ? '' : `In-Reply-To: ${answers.header}\nReferences: ${answers.header}\n`;
    const words = await client.send(
      from.address,
      to,
      `From: ${from.address}\nTo: ${to.join(', ')}\nSubject: ${subject}\n${about}\n${text}\n`,
    );
    client.close();
    const [, consentId = ''] =
      /^250 2\.0\.0 held for consent (con_\w+)(?:: over its budget of today)?$/.exec(words) ?? [];
    const [, id = ''] = /^250 2\.0\.0 accepted (msg_\w+)$/.exec(words) ?? [];
    const [row] = await api.sql(`select message_id from consent where id = $1`, [consentId]);
    const heldId = row?.['message_id'];
    return {
      kind: consentId !== '' ? ('held' as const) : id !== '' ? ('accepted' as const) : ('refused' as const),
      id: id || (typeof heldId === 'string' ? heldId : ''),
      consentId,
      words,
      retryAfter: null,
    };
  }

  const sending: SendingWorld = {
    api,
    mail,
    peer,
    send: (entry, from, letter) => (entry === 'REST' ? byRest(from, letter) : bySmtp(from, letter)),
    async status(from, id) {
      const answer = await api.call('GET', `/api/mailbox/messages/${id}/status`, { as: from.token });
      return at(answer.body, 'status');
    },
    async reaches(from, id, status) {
      await waitUntil(`${id} to be ${status}`, async () => (await sending.status(from, id)) === status, PATIENCE_MS);
    },
    async folder(mailbox, name) {
      const answer = await api.call('GET', `/api/mailbox/messages?folder=${name}&limit=100`, { as: mailbox.token });
      return Object.values(Object(at(answer.body, 'data'))).map((each) => textAt(each, 'subject'));
    },
    async events(type, messageId) {
      const rows = await api.sql(`select payload from events where type = $1 order by id`, [type]);
      const data = rows.map(({ payload }): Record<string, unknown> => JSON.parse(String(payload)).data);
      return data.filter((each) => each['messageId'] === messageId);
    },
    async close() {
      await worker.close();
      await connection.close();
      await peer.close();
      await mail.close();
      await api.close();
    },
  };
  return sending;
}
