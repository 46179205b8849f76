/**
 * Approves a held message, unchanged or with changes by the approving person. The changed message is checked like a
 * submission and composed before the decision; decision, new bytes, recipients and hash are one transaction, so of two
 * concurrent decisions exactly one applies.
 */

import { formatAddress, type MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import type { Caller } from '#core/platform/caller.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import {
  type ConsentChanges,
  type ConsentScope,
  OUTBOUND_CONSENT_DEFAULT,
  textChange,
} from '#domain/sending/consent.ts';
import { storeBlob } from '#mailstore/blobs/blob-store.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { hashContent } from '#mime/content-hash.ts';
import { outgoingTexts } from '#sending/carried/carried-texts.ts';
import { carriesCredential, credentialRefused } from '#sending/carried/own-credentials.ts';
import { readAddresses } from '#sending/compose/compose-message.ts';
import { editContent } from '#sending/compose/edit-message.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';
import { oncePerPlace } from '#sending/compose/submission-input.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import { findSuppressed } from '#sending/lists/suppressions.ts';
import { requireRoom, SenderRefused } from '#sending/local-delivery/deliver-here.ts';
import { isLocal, outsideOf } from '#sending/outbox/local-addresses.ts';
import {
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  readContent,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { approveConsent, type Decided } from './decide-consent.ts';
import { type ConsentRow, findConsent } from './find-consents.ts';
import { notChangedAlone } from './first-approval.ts';
import { recipientsToAsk } from './recipients-to-ask.ts';
import { notAsShown, requireHash } from './shown-message.ts';

/** Omitted fields do not change. Null removes text or HTML from the message. Addresses as `a@b.c` or `Name <a@b.c>`. */
export interface MessageEdit {
  readonly subject?: string;
  readonly text?: string | null;
  readonly html?: string | null;
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
}

export interface Approval {
  readonly scope: ConsentScope;
  /** Undefined: it is approved without changes. */
  readonly edit?: MessageEdit | undefined;
  /** Hash of the message that the person was shown, in hexadecimal digits. Undefined: not compared. */
  readonly sha256?: string | undefined;
}

/**
 * Approves. The caller must check permissions, and signal the workflows of the messages afterwards (`signalDecided`).
 *
 * @throws {CatalogueError} not_found; conflict: decided already, expired, or the stored message is not the one of the
 * request or not the one that was shown. With an edit also invalid_request (`/edit/…`), payload_too_large, recipient_blocked (on a block list, or
 * newly named and on the suppression list), content_refused (a credential of the service), quota_exceeded, forbidden (the mailbox is not active)
 */
export async function approveHeld(
  services: SendingServices,
  organizationId: string,
  consentId: string,
  { scope, edit, sha256 }: Approval,
  caller: Caller,
): Promise<Decided> {
  const consent = await findConsent(services.db, organizationId, consentId);
  if (consent === undefined) throw new CatalogueError('not_found');
  const isOpen = consent.status === 'pending' && consent.expiresAt.getTime() > services.now();
  // An earlier decision is reported before the edit is checked.
  if (sha256 !== undefined && isOpen) await requireShown(services, consent, sha256);
  const change = edit === undefined || !isOpen ? undefined : await prepareEdit(services, consent, edit);
  return approveConsent(services, organizationId, consentId, scope, caller, async (sql, persons) => {
    if (persons === 2 && change !== undefined) throw notChangedAlone();
    // The row is locked by the decision: what it says now is what is approved.
    if (sha256 !== undefined) requireHash((await findConsent(sql, organizationId, consentId)) ?? consent, sha256);
    await change?.(sql);
  });
}

/** The hash of the request, and that of the bytes that would be sent. */
async function requireShown({ db }: SendingServices, consent: ConsentRow, sha256: string): Promise<void> {
  requireHash(consent, sha256);
  const message = await findOutbound(db, consent.messageId);
  if (message === undefined) throw new CatalogueError('not_found');
  const recipients = await findRecipients(db, message.id);
  const addresses = recipients.map(({ address }) => address);
  if (hashContent(await readContent(db, message), addresses).toString('hex') !== sha256) throw notAsShown();
}

/** Makes and checks the changed message. @returns a function that replaces the held message by it */
async function prepareEdit(
  services: SendingServices,
  consent: ConsentRow,
  edit: MessageEdit,
): Promise<(sql: Sql) => Promise<void>> {
  const { db } = services;
  const now = new Date(services.now());
  const message = await findOutbound(db, consent.messageId);
  const sender = await findSender(db, consent.mailboxId);
  if (message === undefined || message.blob === null || sender === undefined) throw new CatalogueError('not_found');
  if (sender.status !== 'active') throw new CatalogueError('forbidden', 'The mailbox is not active and cannot send.');
  const heldBlob = message.blob;
  const bytes = await readContent(db, message);
  const held = await findRecipients(db, message.id);
  const heldAddresses = held.map(({ address }) => address);
  // An edit must not hide a change that somebody made in the store.
  if (!hashContent(bytes, heldAddresses).equals(consent.contentHash))
    throw new CatalogueError('conflict', 'The stored message is not the one that the request is about.');

  const lists = recipientLists(readStructure(bytes), heldAddresses, edit);
  const content = await editContent(
    bytes,
    { ...edit, to: lists.to?.named, cc: lists.cc?.named },
    sender.mailbox.address,
  );
  const prepared = prepareMessage(content.bytes, sender.mailbox.address, now, sender.own);
  requireRecipients(lists.envelope);
  await requireAllowed(services, sender, lists.envelope, heldAddresses);
  const { key } = prepared.hash;
  const read = await readSafely(db, prepared.bytes, { source: sender.mailbox.id, contentKey: key });
  if (await carriesCredential(prepared.bytes, read, outgoingTexts(prepared.bytes, read, lists.envelope)))
    throw credentialRefused();
  await storeBlob(db, key, prepared.bytes);
  const recipients = await Promise.all(
    lists.envelope.map(async (address) => ({ address, local: await isLocal(services, address) })),
  );
  const asked = await recipientsToApprove(services, sender, recipients);
  const contentHash = prepared.hash.contentHash(lists.envelope);
  const changes: ConsentChanges = {
    ...(edit.subject === undefined ? {} : { subject: textChange(content.before.subject, edit.subject) }),
    ...(edit.text === undefined ? {} : { text: textChange(content.before.text, edit.text) }),
    ...(edit.html === undefined ? {} : { html: textChange(content.before.html, edit.html) }),
    ...(lists.to === undefined ? {} : { to: lists.to.change }),
    ...(lists.cc === undefined ? {} : { cc: lists.cc.change }),
    ...(lists.bcc === undefined ? {} : { bcc: lists.bcc.change }),
  };

  return async (sql) => {
    const locked = await lockOutbound(sql, message.id);
    if (locked?.state !== 'held' || locked.blob?.equals(heldBlob) !== true)
      throw new CatalogueError('conflict', 'The message was changed or withdrawn meanwhile.');
    await sql.query(REPLACE_CONTENT, [
      message.id,
      key,
      prepared.bytes.length,
      contentHash,
      JSON.stringify(read.to.map(formatAddress)),
      JSON.stringify(read.cc.map(formatAddress)),
      read.subject,
      read.preview,
      prepared.messageId,
    ]);
    await sql.query(REMOVE_RECIPIENTS, [message.id, recipients.map(({ address }) => address.toLowerCase())]);
    await sql.query(ADD_RECIPIENTS, [
      message.id,
      recipients.map(({ address }) => address),
      recipients.map(({ local }) => local),
      now,
      sender.organization.id,
    ]);
    await sql.query(REPLACE_REQUEST, [
      consent.id,
      asked,
      contentHash,
      read.subject,
      read.preview,
      JSON.stringify(changes),
    ]);
    await requireRoom(sql, sender.mailbox.id).catch((error: unknown) => {
      throw error instanceof SenderRefused ? new CatalogueError('quota_exceeded') : error;
    });
  };
}

/** A list that is changed: as the header will name it, and for the record. */
interface ChangedList {
  readonly named: readonly MailAddress[];
  readonly change: { readonly before: readonly string[]; readonly after: readonly string[] };
}

interface RecipientLists {
  readonly to: ChangedList | undefined;
  readonly cc: ChangedList | undefined;
  readonly bcc: ChangedList | undefined;
  /** All recipients, each once. */
  readonly envelope: readonly string[];
}

/** An unchanged list keeps its envelope recipients; the header may contain others. */
function recipientLists(
  before: { readonly to: readonly MailAddress[]; readonly cc: readonly MailAddress[] },
  envelope: readonly string[],
  edit: MessageEdit,
): RecipientLists {
  const placesOf = (list: readonly MailAddress[]) => new Set(placed(list).map((address) => address.toLowerCase()));
  const [inTo, inCc] = [placesOf(before.to), placesOf(before.cc)];
  const kept = (isIn: (place: string) => boolean) => envelope.filter((address) => isIn(address.toLowerCase()));
  const hidden = kept((place) => !inTo.has(place) && !inCc.has(place));
  const listOf = (given: readonly string[] | undefined, path: string, names: readonly string[]) => {
    if (given === undefined) return undefined;
    const named = readAddresses(given, path);
    return { named, change: { before: names, after: named.map(formatAddress) } };
  };
  const to = listOf(edit.to, '/edit/to', before.to.map(formatAddress));
  const cc = listOf(edit.cc, '/edit/cc', before.cc.map(formatAddress));
  const bcc = listOf(edit.bcc, '/edit/bcc', hidden);
  return {
    to,
    cc,
    bcc,
    envelope: oncePerPlace([
      ...(to === undefined ? kept((place) => inTo.has(place)) : placed(to.named)),
      ...(cc === undefined ? kept((place) => inCc.has(place) && !inTo.has(place)) : placed(cc.named)),
      ...(bcc === undefined ? hidden : placed(bcc.named)),
    ]),
  };
}

/** As the envelope spells addresses. */
const placed = (list: readonly MailAddress[]): string[] => oncePerPlace(list.map(({ address }) => address));

function requireRecipients(recipients: readonly string[]): void {
  const problem =
    recipients.length === 0
      ? 'to, cc or bcc must contain a recipient'
      : recipients.length > RECIPIENTS_PER_MESSAGE_MAX
        ? `to, cc and bcc contain at most ${RECIPIENTS_PER_MESSAGE_MAX} recipients together`
        : undefined;
  if (problem !== undefined)
    throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/edit/to', message: problem }] });
}

/** @throws {CatalogueError} recipient_blocked; nothing is decided then */
async function requireAllowed(
  { db }: SendingServices,
  { organization, mailbox }: Sender,
  recipients: readonly string[],
  before: readonly string[],
): Promise<void> {
  const verdicts = await askLists(db, {
    organizationId: organization.id,
    mailboxId: mailbox.id,
    direction: 'outbound',
    addresses: recipients,
  });
  const blocked = recipients.filter((address) => verdicts.get(address.toLowerCase())?.action === 'block');
  if (blocked.length > 0)
    throw new CatalogueError('recipient_blocked', `On a block list: ${blocked.join(', ')}. Nothing was decided.`);
  const known = new Set(before.map((address) => address.toLowerCase()));
  const added = recipients.map((address) => address.toLowerCase()).filter((address) => !known.has(address));
  const suppressed = await findSuppressed(db, organization.id, added);
  if (suppressed.length > 0)
    throw new CatalogueError(
      'recipient_blocked',
      `On the suppression list: ${suppressed.map(({ address }) => address).join(', ')}. Nothing was decided.`,
    );
}

/** The recipients that the approval is about: those that need consent, or if none does, all outside recipients. */
async function recipientsToApprove(
  services: SendingServices,
  sender: Sender,
  recipients: readonly { readonly address: string; readonly local: boolean }[],
): Promise<string[]> {
  const question = {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    addresses: await outsideOf(services, sender, recipients),
  };
  const mode = sender.settings.outboundConsent ?? OUTBOUND_CONSENT_DEFAULT;
  const asked = await recipientsToAsk(services.db, { ...question, mode });
  return asked.length > 0 ? asked : recipientsToAsk(services.db, { ...question, mode: 'always' });
}

const REPLACE_CONTENT = `
  update outbound_message
     set blob = $2, size = $3, content_hash = $4, to_addresses = $5, cc_addresses = $6, subject = $7, preview = $8,
         message_id_header = $9, edited = true
   where id = $1`;

const REMOVE_RECIPIENTS = `
  delete from outbound_recipient where message_id = $1 and not lower(address) = any($2::text[])`;

/** Recipients that stay keep their number and their delivery notices. */
const ADD_RECIPIENTS = `
  insert into outbound_recipient (message_id, number, address, local, status, updated_at, organization_id)
  select $1, (select coalesce(max(number), -1) from outbound_recipient where message_id = $1) + added.place, address,
         local, 'queued', $4, $5
    from (select r.address, r.local, row_number() over (order by r.n) as place
            from unnest($2::text[], $3::bool[]) with ordinality as r (address, local, n)
           where not exists (select from outbound_recipient known
                              where known.message_id = $1 and lower(known.address) = lower(r.address))) as added`;

const REPLACE_REQUEST = `
  update consent set recipients = $2, content_hash = $3, subject = $4, preview = $5, changes = $6 where id = $1`;
