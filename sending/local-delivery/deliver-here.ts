/**
 * Changes that sending makes in mailboxes here: the copy in Sent, deliveries to local recipients, notices to the
 * sender. All in the caller's transaction, so that mail, events and the state of the recipients are one commit.
 *
 * Final states of recipients, and the end of a message.
 */
import { headerFields, isAutoSubmitted } from '@agent-mailbox/mime-structure/header-fields';
import { findRoleAddress, type RoleAddress, takeRoleMail } from '#core/mailboxes/role-mail.ts';
import type { Sql } from '#db/database.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { domainOf, isOneOf, ROLE_MAIL_MAX_BYTES } from '#domain/mail/mailbox-address.ts';
import type { RecipientNotices } from '#domain/webhooks/delivery-notices.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { askAlias, lockToAuthor } from '#mailstore/delivery/alias-senders.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import type {
  DeliveryOutcome,
  DeliveryWrite,
  IncomingMessage,
  LocalDelivery,
} from '#mailstore/delivery/insert-messages.ts';
import { onlyAuthor } from '#mailstore/delivery/proven-author.ts';
import type { Recipient } from '#mailstore/delivery/recipients.ts';
import { deliverBatch, receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import {
  changeRecipients,
  type MessageToFile,
  newMessage,
  type OutboundMessage,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { changeOwnMail, changesNothing, type OwnMailChanges } from '#sending/outbox/own-mail.ts';
import { holdArrivals } from '#sending/screening/held-arrivals.ts';
import { screenArrival } from '#sending/screening/screen-arrival.ts';
import { type FailedRecipient, notifySender } from './notify-sender.ts';

/** A recipient whose mail belongs here. */
interface LocalRecipient extends RecipientNotices {
  readonly number: number;
  readonly address: string;
  /** Mail to it stays within the organization of the sender. */
  readonly inside: boolean;
}

interface LocalOutcome extends LocalRecipient {
  /** Undefined: delivered. */
  readonly refusal: FailedRecipient | undefined;
}

export interface DeliveredHere {
  readonly threadId: string;
  readonly locals: readonly LocalOutcome[];
  /** Changed, to be announced after the commit. */
  readonly folderIds: readonly number[];
  /** Webhook deliveries to dispatch. */
  readonly owed: number;
}

/** The sender's own mailbox cannot store the copy. */
export class SenderRefused extends Error {
  readonly kind: Exclude<DeliveryOutcome['kind'], 'delivered'>;
  constructor(kind: Exclude<DeliveryOutcome['kind'], 'delivered'>) {
    super(`the mailbox of the sender refuses the copy: ${kind}`);
    this.kind = kind;
  }
}

/** A sender that logged in here and writes as its own address is authenticated; another author is not. */
function localAuthentication({ mailbox, own: all }: Sender, { from: [author] }: ReadMessage): AuthenticationResults {
  const { domain } = mailbox;
  const own = author !== undefined && isOneOf(all, author.address);
  return {
    spf: { result: 'pass', domain },
    dkim: { result: 'none', signatures: [] },
    dmarc: own
      ? { result: 'pass', domain: domainOf(author.address), policy: null }
      : { result: 'fail', domain: domainOf(author?.address ?? ''), policy: null },
    arc: { result: 'none' },
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

/** The mailbox of a sender, as deliveries to it need it. */
interface OwnMailbox {
  /** Undefined: it was deleted. */
  readonly recipient: Recipient | undefined;
  readonly folders: { readonly inbox: number; readonly sent: number };
}

export async function findOwnMailbox(sql: Sql, services: SendingServices, { mailbox }: Sender): Promise<OwnMailbox> {
  const [recipient, folders] = await Promise.all([
    directoryOf(services, sql).find(mailbox.address, 'fresh'),
    ownFolders(sql, mailbox.id),
  ]);
  return { recipient, folders };
}

/** All folders a transaction will touch, then the counters, in the order in which everybody locks them. */
async function lockAll(sql: Sql, folderIds: readonly number[], mailboxIds: readonly string[]): Promise<void> {
  await Promise.all([
    sql.query(`select id from folder where id = any($1::bigint[]) order by id for no key update`, [folderIds]),
    sql.query(`select from mailbox_counter where mailbox_id = any($1::text[]) order by mailbox_id for no key update`, [
      mailboxIds,
    ]),
  ]);
}

type Looked = { readonly local: LocalRecipient } & (
  | {
      readonly recipient: Recipient;
      /** The list of its alias does not name the author, and its mail of others is held. */
      readonly isUnlisted: boolean;
      readonly refusal?: undefined;
    }
  | { readonly role: RoleAddress; readonly refusal?: undefined }
  | { readonly refusal: FailedRecipient }
);

async function lookUp(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  author: string,
  locals: readonly LocalRecipient[],
): Promise<Looked[]> {
  const directory = directoryOf(services, sql);
  const look = async (local: LocalRecipient): Promise<Looked> => {
    const refuse = (code: string, reply: string): Looked => ({
      local,
      refusal: { address: local.address, code, reply },
    });
    // Nobody was asked about it, so mail to it does not reach an organization that has it since.
    const isInside = local.inside && message.consentId === null;
    const mayReach = (organizationId: string) => !isInside || organizationId === sender.organization.id;
    const recipient = await directory.find(local.address, 'fresh');
    if (recipient === undefined) {
      const role = await findRoleAddress(sql, services.settings.MAIL_DOMAIN, local.address);
      if (role !== undefined && mayReach(role.organizationId)) return { local, role };
    }
    if (recipient === undefined || !mayReach(recipient.organization.id))
      return refuse('5.1.1', 'There is no such mailbox here');
    if (recipient.status !== 'active') return refuse('5.2.1', 'The mailbox accepts no mail');
    const verdicts = await askLists(sql, {
      organizationId: recipient.organization.id,
      mailboxId: recipient.mailbox.id,
      direction: 'inbound',
      addresses: [...new Set([sender.mailbox.address, author])].filter((each) => each !== ''),
    });
    if ([...verdicts.values()].some(({ action }) => action === 'block'))
      return refuse('5.7.1', 'The recipient does not accept mail from this sender');
    if (recipient.mailbox.id === sender.mailbox.id) return { local, recipient, isUnlisted: false };
    const proven = isOneOf(sender.own, author);
    const verdict = await askAlias(sql, recipient, author, proven);
    if (verdict === 'gone') return refuse('5.1.1', 'There is no such mailbox here');
    if (verdict === 'refuse') return refuse('5.7.1', 'This address accepts mail of certain senders only');
    if (verdict === 'pass' && !(await lockToAuthor(sql, recipient, author, proven)))
      return refuse('5.7.1', 'This address accepts mail of certain senders only');
    return { local, recipient, isUnlisted: verdict === 'hold' };
  };
  const looked: Looked[] = [];
  for (const local of locals) looked.push(await look(local));
  return looked;
}

/**
 * Files the copy in Sent and delivers to the recipients here; each refusal becomes a notice in the sender's INBOX. The
 * blob must be stored already.
 *
 * @param ownMail what else changes in the sender's mailbox
 * @param own that of `findOwnMailbox`, in the same transaction
 * @throws {SenderRefused} if the copy does not fit; then nothing may be committed
 * @throws {CatalogueError} conflict, if the draft to be sent was removed
 */
export async function deliverHere(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  given: MessageToFile,
  locals: readonly LocalRecipient[],
  ownMail: OwnMailChanges,
  { recipient: own, folders }: OwnMailbox,
): Promise<DeliveredHere> {
  const at = new Date(services.now());
  const content = { ...given, blob: message.blob };
  const { bytes } = content;
  if (own === undefined) throw new SenderRefused('mailbox-closed');
  const looked = await lookUp(
    sql,
    services,
    sender,
    message,
    onlyAuthor(content.read.from),
    locals.slice(0, RECIPIENTS_PER_MESSAGE_MAX),
  );
  const reached = looked.flatMap((each) => ('recipient' in each ? [each.recipient] : []));
  const inboxes = reached.map(({ inboxId }) => inboxId);
  const writes: DeliveryWrite[] = [];
  const facts = { envelopeFrom: sender.mailbox.address, at };
  if (!message.filed || message.edited)
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
          ...(message.filed ? {} : { messageId: message.id }),
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
  const actor: Actor = {
    type: 'mailbox',
    id: sender.mailbox.id,
    name: sender.mailbox.name,
    email: null,
    address: sender.mailbox.address,
  };
  const deliveryOf = ({ local, recipient }: ReachedHere): LocalDelivery => ({
    recipient,
    deliveredTo: local.address,
    folderId: recipient.inboxId,
    labels: [],
    deliveryHash: undefined,
  });
  const here = looked.flatMap((each) => ('recipient' in each ? [each] : []));
  const unlisted = new Set(here.flatMap((each) => (each.isUnlisted ? [each.recipient.mailbox.id] : [])));
  const held = await holdOfStrangers(sql, sender, incoming, here.map(deliveryOf), unlisted, actor);
  const reachable = here.filter(({ recipient }) => !held.has(recipient.mailbox.id));
  for (const each of reachable)
    writes.push({
      message: incoming,
      deliveries: [deliveryOf(each)],
      event: (delivery, messageId, threadId) => ({
        ...receivedEvent(incoming, delivery, messageId, threadId),
        actor,
      }),
    });
  const locked = lockAll(
    sql,
    [folders.inbox, folders.sent, ...inboxes, ...ownMail.folderIds],
    [sender.mailbox.id, ...reached.map(({ mailbox }) => mailbox.id)],
  );
  const changed = changesNothing(ownMail)
    ? []
    : await locked.then(() => changeOwnMail(sql, sender.mailbox.id, ownMail));
  // Usually in one round trip: whatever comes between the locks and the commit delays all others that wait for them.
  const [, { outcomes, owed }] = await Promise.all([locked, deliverBatch(sql, writes)]);
  const copy = outcomes[0];
  if (copies > 0 && copy !== undefined && copy.kind !== 'delivered') throw new SenderRefused(copy.kind);
  const filedThread = copies > 0 && copy?.kind === 'delivered' ? copy.deliveries[0]?.threadId : undefined;
  const threadId = filedThread ?? message.threadId ?? (await threadOf(sql, message.id)) ?? '';

  const refusedLater = new Map(
    reachable.flatMap(({ local }, i): [number, FailedRecipient][] => {
      const outcome = outcomes[copies + i];
      if (outcome === undefined || outcome.kind === 'delivered') return [];
      const [code, reply] =
        outcome.kind === 'over-quota' ? ['5.2.2', 'The mailbox is full'] : ['5.2.1', 'The mailbox accepts no mail'];
      return [[local.number, { address: local.address, code, reply }]];
    }),
  );
  for (const { local, recipient } of here)
    if (held.get(recipient.mailbox.id) === 'too-much')
      refusedLater.set(local.number, {
        address: local.address,
        code: '5.7.1',
        reply: 'There is too much mail of this sender',
      });
  for (const each of looked) {
    const refusal = 'role' in each ? await refusalOfRole(sql, services, sender, each.role, content) : undefined;
    if (refusal !== undefined) refusedLater.set(each.local.number, { address: each.local.address, ...refusal });
  }
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

interface ReachedHere {
  readonly local: LocalRecipient;
  readonly recipient: Recipient;
}

/**
 * Holds a message from another organization for the mailboxes whose screening does, and one of anybody at whose alias the
 * author is not listed.
 *
 * @returns those mailboxes; `too-much`: nothing was held, because too much of this sender waits already
 */
async function holdOfStrangers(
  sql: Sql,
  { organization, mailbox }: Sender,
  message: IncomingMessage,
  deliveries: readonly LocalDelivery[],
  unlisted: ReadonlySet<string>,
  actor: Actor,
): Promise<ReadonlyMap<string, 'held' | 'too-much'>> {
  const strangers = deliveries.filter(
    ({ recipient }) => recipient.organization.id !== organization.id || unlisted.has(recipient.mailbox.id),
  );
  const screened = await screenArrival(
    sql,
    message,
    strangers.map(({ recipient }) =>
      recipient.organization.id === organization.id ? { ...recipient, screening: 'off' as const } : recipient,
    ),
    unlisted,
  );
  const outcomes = new Map<string, 'held' | 'too-much'>();
  for (const delivery of strangers) {
    const mailboxId = delivery.recipient.mailbox.id;
    const reasons = screened.get(mailboxId);
    if (reasons === undefined) continue;
    const holding = { message, deliveries: [{ delivery, reasons }], source: mailbox.id, actor };
    outcomes.set(mailboxId, (await holdArrivals(sql, holding)).kind);
  }
  return outcomes;
}

/** Sends a message to the owners behind a role address. */
async function refusalOfRole(
  sql: Sql,
  services: SendingServices,
  { mailbox }: Sender,
  role: RoleAddress,
  { bytes, read }: MessageToFile,
): Promise<{ readonly code: string; readonly reply: string } | undefined> {
  if (role.suspendedReceive !== null) return { code: '5.2.1', reply: 'The mailbox accepts no mail' };
  if (bytes.length > ROLE_MAIL_MAX_BYTES)
    return { code: '5.3.4', reply: `A message to this address has at most ${ROLE_MAIL_MAX_BYTES} bytes` };
  const outcome = await takeRoleMail(
    sql,
    role,
    {
      received: bytes,
      bytes,
      from: mailbox.address,
      subject: read.subject,
      preview: read.preview,
      isAutomatic: isAutoSubmitted(headerFields(bytes, read.parts.header, read.parts.body)),
      isUnauthenticated: false,
    },
    services.now(),
  );
  return outcome.kind === 'taken' ? undefined : { code: '5.7.1', reply: 'There is too much mail to this address' };
}

/** The result for a recipient whose mailbox is here and accepted the message. */
const DELIVERED_HERE = { code: '2.0.0', reply: 'delivered here' };

async function threadOf(sql: Sql, messageId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ thread_id: string }>(`select thread_id from message where id = $1`, [messageId]);
  return row?.thread_id;
}

/** Code and reply for a recipient here. @param refusal undefined: it was delivered */
export const localResult = (
  refusal: { readonly code: string; readonly reply: string } | undefined,
): { readonly code: string; readonly reply: string } => ({
  code: refusal?.code ?? DELIVERED_HERE.code,
  reply: refusal?.reply ?? DELIVERED_HERE.reply,
});

/** Writes the results of the recipients here. */
export const settleLocals = (sql: Sql, messageId: string, { locals }: DeliveredHere, now: Date): Promise<void> =>
  changeRecipients(
    sql,
    messageId,
    locals.map(({ number, refusal }) => ({
      number,
      status: refusal === undefined ? 'sent' : 'bounced',
      ...localResult(refusal),
    })),
    now,
  );

/** Ends a message all of whose recipients are final. */
export async function finishIfDone(sql: Sql, messageId: string, now: Date): Promise<void> {
  await sql.query(
    `update outbound_message m set state = 'done', finished_at = $2
      where id = $1 and state = 'sending' and not exists (
        select from outbound_recipient r where r.message_id = m.id and r.status in ('queued', 'sending'))`,
    [messageId, now],
  );
}

/**
 * The copies in Sent are filed at the release, but lack of room is reported at submission. All waiting messages are
 * counted, including this one.
 *
 * @throws {SenderRefused} over-quota
 */
export async function requireRoom(sql: Sql, mailboxId: string): Promise<void> {
  const fits = await sql.query(FITS, [mailboxId]);
  if (fits.length === 0) throw new SenderRefused('over-quota');
}

const FITS = `
  select 1 from mailbox_counter
   where mailbox_id = $1 and quota_bytes >= bytes_used + (
     select coalesce(sum(size), 0) from outbound_message
      where mailbox_id = $1 and state in ('held', 'scheduled') and (edited or not filed))`;
