/** The environment of sending tests: mailboxes, a worker, and a scripted mail host outside. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { DnsLookup } from '#mail/smtp/dns-resolver.ts';
import { composeMessage, readAddresses } from '#sending/compose/compose-message.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';
import type { Submitted } from '#sending/outbox/find-submitted.ts';
import {
  findOutbound,
  findRecipients,
  type OutboundRecipient,
  outboundStatusOf,
} from '#sending/outbox/outbound-message.ts';
import type { Submission } from '#sending/submit/plan-submission.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { submitMessage } from '#sending/submit/submit-message.ts';
import { type RelayOptions, relayTransport } from '#sending/transports/choose-transport.ts';
import type { Transport } from '#sending/transports/transport.ts';
import type { RunningWorker } from '#worker/start.ts';
import { type MailWorld, openMailWorld, type TestMailbox } from './mail-world.ts';
import { temporalConnection } from './temporal-connection.ts';
import { startTestWorker } from './test-worker.ts';
import { waitUntil } from './wait-until.ts';

/** One thing the host outside does wrong: at a command, so many times. */
export interface Fault {
  /** `body`: while the message is received, only `drop`; `data`: after it, before the answer. */
  readonly at: 'connect' | 'mail' | 'rcpt' | 'body' | 'data';
  /** Reply with this code; `drop` ends the connection instead; `silence` never answers. */
  readonly reply: number | 'drop' | 'silence';
  /** Only this recipient. */
  readonly for?: string;
  /** Behind the code of a reply. */
  readonly words?: string;
  times: number;
}

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly bytes: Buffer;
  /** Came by TLS. */
  readonly secure: boolean;
  /** Parameters of MAIL, then those of each RCPT, as smtp-server decodes them. */
  readonly parameters: readonly Readonly<Record<string, unknown>>[];
}

export interface Peer {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  faults: Fault[];
  close(): Promise<void>;
}

interface PeerOptions {
  readonly address?: string;
  readonly port?: number;
  /** Offers STARTTLS with this. */
  readonly tls?: SecureContextOptions;
  /** Announces DSN. */
  readonly dsn?: boolean;
  /** Announces SMTPUTF8; default: yes. */
  readonly smtpUtf8?: boolean;
}

/** A mail host outside. Accepted mail is in `received`, also if its answer got lost. */
export async function startPeer({
  address: host = '127.0.0.1',
  port: wanted = 0,
  tls,
  dsn = false,
  smtpUtf8 = true,
}: PeerOptions = {}): Promise<Peer> {
  const peer: Pick<Peer, 'received' | 'faults'> = { received: [], faults: [] };
  const take = (at: Fault['at'], address?: string): Fault | undefined => {
    const fault = peer.faults.find(
      (each) => each.at === at && each.times > 0 && (each.for === undefined || each.for === address),
    );
    if (fault !== undefined) fault.times--;
    return fault;
  };
  const act = (fault: Fault | undefined, drop: () => void, done: (error?: Error | null) => void) => {
    if (fault === undefined) return done();
    if (fault.reply === 'silence') return;
    if (fault.reply === 'drop') return drop();
    done(Object.assign(new Error(fault.words ?? 'as told'), { responseCode: fault.reply }));
  };
  const server: SMTPServer = new SMTPServer({
    disabledCommands: tls === undefined ? ['STARTTLS', 'AUTH'] : ['AUTH'],
    ...tls,
    disableReverseLookup: true,
    hideDSN: !dsn,
    hideSMTPUTF8: !smtpUtf8,
    onConnect(session, callback) {
      act(take('connect'), () => drop(session.remotePort), callback);
    },
    onMailFrom(_address, session, callback) {
      act(take('mail'), () => drop(session.remotePort), callback);
    },
    onRcptTo({ address }, session, callback) {
      act(take('rcpt', address), () => drop(session.remotePort), callback);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (take('body') !== undefined) drop(session.remotePort);
      });
      stream.on('error', () => {});
      stream.on('end', () => {
        const fault = take('data');
        if (typeof fault?.reply !== 'number' || fault.reply < 400)
          peer.received.push({
            from: session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
            to: session.envelope.rcptTo.map(({ address }) => address),
            bytes: Buffer.concat(chunks),
            secure: session.secure,
            parameters: [session.envelope.mailFrom || { args: {} }, ...session.envelope.rcptTo].map(({ args }) =>
              Object(args || {}),
            ),
          });
        act(fault, () => drop(session.remotePort), callback);
      });
    },
  });
  const open = new Map<number, { destroy(): void }>();
  server.server.on('connection', (socket) => {
    const port = socket.remotePort ?? 0;
    open.set(port, socket);
    socket.on('close', () => open.delete(port));
  });
  const drop = (port: number) => open.get(port)?.destroy();
  server.on('error', () => {});
  server.listen(wanted, host);
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(peer, {
    url: `smtp://${host}:${port}`,
    port,
    async close() {
      for (const socket of open.values()) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

export interface OutboundWorld {
  readonly mail: MailWorld;
  readonly temporal: TemporalClient;
  readonly peer: Peer;
  readonly sender: TestMailbox;
  /** Submits a small message and starts its workflow. */
  send(
    to: readonly string[],
    more?: {
      subject?: string;
      from?: TestMailbox;
      bcc?: readonly string[];
      references?: readonly string[];
      sendAt?: Date;
    },
  ): Promise<Submitted>;
  /** Submits these bytes and starts the workflow. */
  submit(message: string | Buffer, to: readonly string[], more?: Partial<Submission>): Promise<Submitted>;
  recipients(messageId: string): Promise<OutboundRecipient[]>;
  status(messageId: string): Promise<string>;
  /** Waits for the message to be over. @returns its status */
  finished(messageId: string): Promise<string>;
  events(type: string): Promise<{ data: Record<string, unknown>; actor: Record<string, unknown> }[]>;
  /** Subjects of a folder. */
  folder(mailbox: TestMailbox, specialUse: string): Promise<string[]>;
  consentMode(mode: 'off' | 'first_contact' | 'always'): Promise<void>;
  close(): Promise<void>;
}

/** On a busy machine too. */
const PATIENCE_MS = 60_000;

export async function openOutboundWorld(
  options: {
    relay?: Partial<RelayOptions>;
    /** Instead of the relay. */
    transport?: (peer: Peer) => Transport;
    capture?: true;
    lookup?: DnsLookup;
    settings?: Readonly<Record<string, string>>;
    peer?: PeerOptions;
  } = {},
): Promise<OutboundWorld> {
  const mail = await openMailWorld({
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    clients: { failureDelayMs: () => 10 },
    settings: { OUTBOUND_RETRY_DELAYS_MS: '100', ...options.settings },
  });
  const { services } = mail;
  const { db } = services;
  const peer = await startPeer(options.peer);
  const connection = await temporalConnection();
  const worker: RunningWorker = await startTestWorker(services, connection, {
    ...(options.capture
      ? {}
      : {
          transport:
            options.transport?.(peer) ?? relayTransport({ url: peer.url, hostname: 'mail.test', ...options.relay }),
        }),
  });
  const sender = await mail.createMailbox('agent');
  const world: OutboundWorld = {
    mail,
    temporal: worker.temporal,
    peer,
    sender,
    async send(to, { subject = 'Hello', from = sender, bcc = [], references = [], sendAt } = {}) {
      const bytes = await composeMessage({
        from: { name: '', address: from.address },
        to: readAddresses(to, '/to'),
        cc: [],
        bcc: readAddresses(bcc, '/bcc'),
        replyTo: [],
        subject,
        text: 'Some words.\n',
        html: undefined,
        attachments: [],
        headers: {},
        inReplyTo: references.at(-1),
        references,
      });
      return world.submit(bytes, [...to, ...bcc], { mailboxId: from.id, sendAt: sendAt ?? null });
    },
    async submit(message, recipients, more = {}) {
      const [row] = await db.query<{ address: string }>(`select address from mailboxes where id = $1`, [
        more.mailboxId ?? sender.id,
      ]);
      const submitted = await submitMessage(services, {
        organizationId: mail.organizationId,
        mailboxId: sender.id,
        prepared: prepareMessage(Buffer.from(message), row?.address ?? '', new Date()),
        recipients,
        via: 'api',
        actor: SYSTEM_ACTOR,
        labels: [],
        clientId: null,
        ...more,
      });
      await startOutbound(services, worker.temporal, submitted);
      return submitted;
    },
    recipients: (messageId) => findRecipients(db, messageId),
    async status(messageId) {
      const message = await findOutbound(db, messageId);
      return message === undefined ? 'unknown' : outboundStatusOf(message, await findRecipients(db, messageId));
    },
    async finished(messageId) {
      const isOver = async () => {
        const message = await findOutbound(db, messageId);
        return message?.state === 'done' || message?.state === 'denied';
      };
      await waitUntil(`the end of ${messageId}`, isOver, PATIENCE_MS);
      return world.status(messageId);
    },
    async events(type) {
      const rows = await db.query<{ payload: string }>(`select payload from events where type = $1 order by id`, [
        type,
      ]);
      return rows.map(({ payload }) => JSON.parse(payload));
    },
    async folder(mailbox, specialUse) {
      const rows = await db.query<{ subject: string }>(
        `select m.subject from placement p join folder f on f.id = p.folder_id join message m on m.id = p.message_id
          where f.mailbox_id = $1 and f.special_use = $2 order by p.uid`,
        [mailbox.id, specialUse],
      );
      return rows.map(({ subject }) => subject);
    },
    async consentMode(mode) {
      await db.query(
        `update organizations set settings = jsonb_build_object('outboundConsent', $2::text) where id = $1`,
        [mail.organizationId, mode],
      );
    },
    async close() {
      await worker.close();
      await connection.close();
      await peer.close();
      await mail.close();
    },
  };
  await world.consentMode('off');
  return world;
}
