/**
 * What sending changes in mailboxes here: the copy in Sent, deliveries to local recipients, notices to the sender. All
 * in the caller's transaction, so that mail, events and the state of the recipients are one commit.
 */
import { blobKey, storeBlob } from '../../core/blob-store.ts';
import { askLists } from '../../core/sender-lists.ts';
import type { Services } from '../../core/services.ts';
import type { Sql } from '../../db/database.ts';
import {
  type NoticeAction,
  type RecipientNotices,
  type ReturnedPart,
  wantsNotice,
} from '../../domain/delivery-notices.ts';
import { domainOf } from '../../domain/email-address.ts';
import { SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import { MAIL_FLAGS } from '../../domain/mail-flags.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '../../domain/mail-limits.ts';
import { deliveryAddress } from '../../domain/mailbox-address.ts';
import { type ReadMessage, readMessage } from '../mime/read-message.ts';
import type { AuthenticationResults } from '../store/authentication-results.ts';
import { deliverBatch } from '../store/deliver.ts';
import type { DeliveryOutcome, DeliveryWrite, IncomingMessage } from '../store/delivery.ts';
import { threadRefs } from '../store/fingerprints.ts';
import { isStoredAhead } from '../store/insert-messages.ts';
import { receivedEvent } from '../store/received-event.ts';
import { type Recipient, recipientDirectory } from '../store/recipients.ts';
import { type FailedRecipient, writeNotice } from './dsn-write.ts';
import type { OutboundMessage, Sender } from './outbound-message.ts';
import { changeOwnMail, type OwnMailChanges } from './own-mail.ts';

export type SendingServices = Pick<
  Services,
  'db' | 'settings' | 'now' | 'log' | 'deliveriesDue' | 'secrets' | 'pepper'
>;

/** A recipient whose mail belongs here. */
export interface LocalRecipient extends RecipientNotices {
  readonly number: number;
  readonly address: string;
}

export interface LocalOutcome extends LocalRecipient {
  /** Undefined: delivered. */
  readonly refusal: FailedRecipient | undefined;
}

export interface DeliveredHere {
  readonly threadId: string;
  readonly locals: readonly LocalOutcome[];
  /** Changed, to be announced after the commit. */
  readonly folderIds: readonly number[];
  /** Webhook deliveries owed. */
  readonly owed: number;
}

/** The sender's own mailbox cannot take the copy. */
export class SenderRefused extends Error {
  readonly kind: Exclude<DeliveryOutcome['kind'], 'delivered'>;
  constructor(kind: Exclude<DeliveryOutcome['kind'], 'delivered'>) {
    super(`the mailbox of the sender refuses the copy: ${kind}`);
    this.kind = kind;
  }
}

/** @param sql within a transaction that one: who holds a connection must not wait for another */
export const directoryOf = ({ db, settings, now }: SendingServices, sql: Sql = db) =>
  recipientDirectory(sql, settings.MAIL_DOMAIN, now);

/** Whether mail to an address stays on this host. */
export async function isLocal(services: SendingServices, address: string): Promise<boolean> {
  return directoryOf(services).servesDomain(address.slice(address.lastIndexOf('@') + 1));
}

/** Who logged in here and writes under its own address is as genuine as can be; another author is not proven. */
function localAuthentication({ mailbox }: Sender, { from: [author] }: ReadMessage): AuthenticationResults {
  const { domain } = mailbox;
  const own = author !== undefined && deliveryAddress(author.address) === mailbox.address.toLowerCase();
  return {
    spf: { result: 'pass', domain },
    dkim: { result: 'none', signatures: [] },
    dmarc: own
      ? { result: 'pass', domain, policy: null }
      : { result: 'fail', domain: domainOf(author?.address ?? ''), policy: null },
    arc: { result: 'none' },
  };
}

interface Content {
  readonly bytes: Buffer;
  readonly read: ReadMessage;
}

/** A message of this host, as it is filed in a mailbox here. */
export function newMessage(
  { bytes, read }: Content,
  origin: 'submission' | 'local' | 'system',
  facts: { correspondent: string; envelopeFrom: string; at: Date; auth: AuthenticationResults | null },
): IncomingMessage {
  return {
    bytes,
    size: bytes.length,
    blobKey: blobKey(bytes),
    read,
    refs: threadRefs(read, facts.correspondent),
    origin,
    receivedAt: facts.at,
    envelopeFrom: facts.envelopeFrom,
    auth: facts.auth,
  };
}

async function ownFolders(sql: Sql, mailboxId: string): Promise<{ inbox: number; sent: number }> {
  const rows = await sql.query<{ id: number; special_use: string }>(
    `select id, special_use from folder
      where mailbox_id = $1 and special_use in ('\\Inbox', '\\Sent') and deleted_at is null`,
    [mailboxId],
  );
  const idOf = (use: string) => Number(rows.find(({ special_use }) => special_use === use)?.id ?? 0);
  return { inbox: idOf('\\Inbox'), sent: idOf('\\Sent') };
}

/** All folders a transaction will touch, then the counters, in the order in which everybody locks them. */
async function lockAll(sql: Sql, folderIds: readonly number[], mailboxIds: readonly string[]): Promise<void> {
  await sql.query(`select id from folder where id = any($1::bigint[]) order by id for no key update`, [folderIds]);
  await sql.query(
    `select from mailbox_counter where mailbox_id = any($1::text[]) order by mailbox_id for no key update`,
    [mailboxIds],
  );
}

type Looked = { readonly local: LocalRecipient } & (
  | { readonly recipient: Recipient; readonly refusal?: undefined }
  | { readonly refusal: FailedRecipient }
);

async function lookUp(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  locals: readonly LocalRecipient[],
): Promise<Looked[]> {
  const directory = directoryOf(services, sql);
  const look = async (local: LocalRecipient): Promise<Looked> => {
    const refuse = (code: string, reply: string): Looked => ({
      local,
      refusal: { address: local.address, code, reply },
    });
    const recipient = await directory.find(local.address, 'fresh');
    if (recipient === undefined) return refuse('5.1.1', 'There is no such mailbox here');
    if (recipient.status !== 'active') return refuse('5.2.1', 'The mailbox takes no mail');
    const verdicts = await askLists(sql, {
      organizationId: recipient.organization.id,
      mailboxId: recipient.mailbox.id,
      direction: 'inbound',
      addresses: [sender.mailbox.address],
    });
    if ([...verdicts.values()].some(({ action }) => action === 'block'))
      return refuse('5.7.1', 'The recipient does not take mail from this sender');
    return { local, recipient };
  };
  const looked: Looked[] = [];
  for (const local of locals) looked.push(await look(local));
  return looked;
}

/**
 * Files the copy in Sent and delivers to the recipients here; each that refuses becomes a notice in the sender's INBOX.
 * The blob must be stored already.
 *
 * @param ownMail what else changes in the sender's mailbox
 * @throws {SenderRefused} when the copy does not fit; nothing may be committed then
 * @throws {CatalogueError} conflict, when the draft to be sent is gone
 */
export async function deliverHere(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
  locals: readonly LocalRecipient[],
  ownMail: OwnMailChanges,
): Promise<DeliveredHere> {
  const at = new Date(services.now());
  const content = { bytes, read: readMessage(bytes) };
  const own = await directoryOf(services, sql).find(sender.mailbox.address, 'fresh');
  if (own === undefined) throw new SenderRefused('mailbox-closed');
  const folders = await ownFolders(sql, sender.mailbox.id);
  const looked = await lookUp(sql, services, sender, locals.slice(0, RECIPIENTS_PER_MESSAGE_MAX));
  const reached = looked.flatMap((each) => (each.refusal === undefined ? [each.recipient] : []));
  const inboxes = reached.map(({ inboxId }) => inboxId);
  await lockAll(
    sql,
    [folders.inbox, folders.sent, ...inboxes, ...ownMail.folderIds],
    [sender.mailbox.id, ...reached.map(({ mailbox }) => mailbox.id)],
  );
  const changed = await changeOwnMail(sql, sender.mailbox.id, ownMail);

  const writes: DeliveryWrite[] = [];
  const facts = { envelopeFrom: sender.mailbox.address, at };
  if (!message.filed)
    writes.push({
      message: newMessage(content, 'submission', {
        ...facts,
        correspondent: content.read.to[0]?.address ?? '',
        auth: null,
      }),
      deliveries: [
        {
          recipient: own,
          deliveredTo: '',
          folderId: folders.sent,
          labels: message.labels,
          deliveryHash: undefined,
          messageId: message.id,
          flags: MAIL_FLAGS.seen,
        },
      ],
      event: () => null,
    });
  const copies = writes.length;
  const incoming = newMessage(content, 'local', {
    ...facts,
    correspondent: sender.mailbox.address,
    auth: localAuthentication(sender, content.read),
  });
  const reachable = looked.flatMap((each) => (each.refusal === undefined ? [each] : []));
  for (const { local, recipient } of reachable)
    writes.push({
      message: incoming,
      deliveries: [
        { recipient, deliveredTo: local.address, folderId: recipient.inboxId, labels: [], deliveryHash: undefined },
      ],
      event: (delivery, messageId, threadId) => ({
        ...receivedEvent(incoming, delivery, messageId, threadId),
        actor: {
          type: 'mailbox',
          id: sender.mailbox.id,
          name: sender.mailbox.name,
          email: null,
          address: sender.mailbox.address,
        },
      }),
    });
  const { outcomes, owed } = await deliverBatch(sql, writes);
  const copy = outcomes[0];
  if (copies > 0 && copy !== undefined && copy.kind !== 'delivered') throw new SenderRefused(copy.kind);
  const filedThread = copies > 0 && copy?.kind === 'delivered' ? copy.deliveries[0]?.threadId : undefined;
  const threadId = filedThread ?? message.threadId ?? (await threadOf(sql, message.id)) ?? '';

  const refusedLater = new Map(
    reachable.flatMap(({ local }, i): [number, FailedRecipient][] => {
      const outcome = outcomes[copies + i];
      if (outcome === undefined || outcome.kind === 'delivered') return [];
      const [code, reply] =
        outcome.kind === 'over-quota' ? ['5.2.2', 'The mailbox is full'] : ['5.2.1', 'The mailbox takes no mail'];
      return [[local.number, { address: local.address, code, reply }]];
    }),
  );
  const results = looked.map(({ local, refusal }) => ({
    ...local,
    refusal: refusal ?? refusedLater.get(local.number),
  }));
  const [failed, delivered] = [
    results.flatMap((local) => (local.refusal === undefined ? [] : [{ ...local, ...local.refusal }])),
    results.flatMap((local) => (local.refusal === undefined ? [{ ...local, ...DELIVERED_HERE }] : [])),
  ];
  const notices =
    (await notifySender(sql, services, sender, message, bytes, 'failed', failed)) +
    (await notifySender(sql, services, sender, message, bytes, 'delivered', delivered));
  return {
    threadId,
    locals: results,
    folderIds: [folders.inbox, folders.sent, ...inboxes, ...changed],
    owed: owed + notices,
  };
}

/** What is said of a recipient whose mailbox is here and took the message. */
export const DELIVERED_HERE = { code: '2.0.0', reply: 'delivered here' };

async function threadOf(sql: Sql, messageId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ thread_id: string }>(`select thread_id from message where id = $1`, [messageId]);
  return row?.thread_id;
}

const HEADER_SHOWN_MAX_BYTES = 65_536;

/**
 * Tells the sender what became of recipients, by a notice in its INBOX, as far as it wants to know. A full or closed
 * mailbox goes without: the state of the recipients says the same.
 *
 * @returns webhook deliveries owed
 */
export async function notifySender(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
  action: NoticeAction,
  recipients: readonly (FailedRecipient & RecipientNotices)[],
): Promise<number> {
  const told = recipients.filter((each) => wantsNotice(each, action));
  const own = told.length === 0 ? undefined : await directoryOf(services, sql).find(sender.mailbox.address, 'fresh');
  if (own === undefined) return 0;
  const at = new Date(services.now());
  const headerEnd = bytes.indexOf('\r\n\r\n');
  const header = bytes.subarray(0, Math.min(headerEnd < 0 ? bytes.length : headerEnd + 2, HEADER_SHOWN_MAX_BYTES));
  const put = async (returned: { part: ReturnedPart; bytes: Buffer }) => {
    const notice = writeNotice({
      action,
      hostname: services.settings.MAIL_HOSTNAME,
      sender: sender.mailbox.address,
      subject: message.subject,
      messageIdHeader: message.messageIdHeader,
      envelopeId: message.envelopeId,
      told,
      returned,
      submittedAt: message.submittedAt,
      now: at,
    });
    const incoming = newMessage({ bytes: notice, read: readMessage(notice) }, 'system', {
      correspondent: `mailer-daemon@${services.settings.MAIL_HOSTNAME}`,
      envelopeFrom: '',
      at,
      auth: null,
    });
    if (isStoredAhead(incoming)) await storeBlob(sql, incoming.blobKey, incoming.bytes);
    return deliverBatch(sql, [
      {
        message: incoming,
        deliveries: [
          {
            recipient: own,
            deliveredTo: sender.mailbox.address,
            folderId: own.inboxId,
            labels: [],
            deliveryHash: undefined,
          },
        ],
        event: (delivery, messageId, threadId) => ({
          ...receivedEvent(incoming, delivery, messageId, threadId),
          actor: SYSTEM_ACTOR,
        }),
      },
    ]);
  };
  // The whole message comes back with failures only (RFC 3461 §4.3), and not into a mailbox that has no room for it.
  if (message.returned === 'FULL' && action === 'failed') {
    const { outcomes, owed } = await put({ part: 'FULL', bytes });
    if (outcomes[0]?.kind === 'delivered') return owed;
  }
  return (await put({ part: 'HDRS', bytes: header })).owed;
}
