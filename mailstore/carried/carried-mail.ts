/**
 * What stored mail says, and who knows it, so that passages of it are found in outgoing mail: numbers of phrases, telling
 * words and one-time codes in `carried_mark`. It is written in the background (`index-carried-mail.ts`); until then
 * `carried_due` has the message.
 */

import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import type { Database, Sql } from '#db/database.ts';
import { OTP_CONFIDENCE_MIN } from '#domain/mail/mail-limits.ts';
import {
  CARRIED_DUE_FILES_MAX,
  CARRIED_DUE_FILES_MAX_MS,
  CARRIED_DUE_MAX_CHARACTERS,
  CARRIED_DUE_MESSAGES_MAX,
} from '#domain/sending/carried-mail.ts';
import type { ContentExtracts, MessageOrigin } from '#mailstore/delivery/insert-messages.ts';
import { type CarriedText, readCarriedText } from '#mime/carried/carried-text.ts';
import { keptPhrases } from '#mime/carried/phrases.ts';
import { codeMark, storedMark } from '#mime/carried/telling-words.ts';
import { hashOf } from '#mime/carried/words.ts';
import { storedDocumentTexts } from './document-texts.ts';

/** `outgoing`: it was sent to somebody outside; `internal`: only within the organization. */
export type CarriedKind = 'incoming' | 'outgoing' | 'internal';

/** A stored message that is compared. */
export interface CarriedMail {
  readonly messageId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly threadId: string;
  readonly kind: CarriedKind;
  /** Address of the author, as lists compare it; empty: none. */
  readonly author: string;
  /** Addresses that know what it says, as lists compare them. */
  readonly parties: readonly string[];
  readonly subject: string;
  readonly receivedAt: Date;
  /** Surely one-time codes. */
  readonly codes: readonly string[];
  readonly hasFiles: boolean;
  /** Subject, text, and the text of files, once it was read. */
  readonly text: string;
}

/** As lists and envelopes compare addresses. */
export const placeOf = (address: string): string => withAsciiDomain(address.toLowerCase());

/** Lets other work go first. */
export const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface MailRow {
  readonly message_id: string;
  readonly organization_id: string;
  readonly mailbox_id: string;
  readonly thread_id: string;
  readonly origin: MessageOrigin;
  readonly envelope_from: string | null;
  readonly delivered_to: string | null;
  readonly from_addresses: readonly MailAddress[];
  readonly to_addresses: readonly MailAddress[];
  readonly cc_addresses: readonly MailAddress[];
  readonly subject: string;
  readonly received_at: Date;
  readonly own_address: string;
  readonly sent_to: readonly string[] | null;
  readonly sent_outside: boolean;
  readonly extracts: ContentExtracts | null;
  readonly body: string | null;
  readonly document: string | null;
  readonly has_files: boolean;
}

/** Characters of a text that are compared. */
const TEXT_CHARACTERS = 1_048_576;

/** Messages with their texts. Drafts and notices of the service are none of them, nor mail that a client filed as sent. */
export async function readCarriedMails(
  sql: Sql,
  organizationId: string,
  messageIds: readonly string[],
): Promise<CarriedMail[]> {
  if (messageIds.length === 0) return [];
  return mailsOf(await sql.query<MailRow>(MAILS, [organizationId, messageIds, TEXT_CHARACTERS]));
}

/** The newest messages that the background has not come to yet, as far as their texts are not too long together. */
export const readDueMails = async (sql: Sql, organizationId: string): Promise<CarriedMail[]> =>
  mailsOf(
    await sql.query<MailRow>(DUE_MAILS, [
      organizationId,
      CARRIED_DUE_MESSAGES_MAX,
      TEXT_CHARACTERS,
      CARRIED_DUE_MAX_CHARACTERS,
    ]),
  );

const mailsOf = (rows: readonly MailRow[]): CarriedMail[] =>
  rows.flatMap((row): CarriedMail[] => {
    const author = placeOf(row.from_addresses[0]?.address ?? '');
    const kind = kindOf(row, author);
    if (kind === undefined) return [];
    return [
      {
        messageId: row.message_id,
        organizationId: row.organization_id,
        mailboxId: row.mailbox_id,
        threadId: row.thread_id,
        kind,
        author,
        parties: [...new Set(partiesOf(row).map(placeOf))].filter((address) => address !== ''),
        subject: row.subject,
        receivedAt: row.received_at,
        codes: (row.extracts?.codes ?? []).flatMap(({ code, confidence }) =>
          confidence >= OTP_CONFIDENCE_MIN ? [code] : [],
        ),
        hasFiles: row.has_files,
        text: `${row.subject}\n\n${row.body ?? ''}${row.document === null ? '' : `\n\n${row.document}`}`,
      },
    ];
  });

const mailsStatement = (condition: string): string => `
  select m.id as message_id, x.organization_id, m.mailbox_id, m.thread_id, m.origin, m.envelope_from, m.delivered_to,
         m.from_addresses, m.to_addresses, m.cc_addresses, m.subject, m.received_at, x.address as own_address,
         sent.addresses as sent_to, coalesce(sent.outside, false) as sent_outside, c.extracts, left(c.body, $3) as body, d.text as document,
         m.attachments <> '[]' as has_files
    from message m join mailboxes x on x.id = m.mailbox_id
    left join message_content c on c.message_id = m.id
    left join carried_document d on d.message_id = m.id
    left join lateral (
      select array_agg(r.address) as addresses, bool_or(not r.inside) as outside from outbound_recipient r
       where r.message_id = m.id and r.status <> 'denied') as sent on true
   where x.organization_id = $1 and m.id ${condition} and m.origin in ('smtp', 'local', 'submission', 'append')`;

const MAILS = mailsStatement('= any($2::text[])');

const DUE_MAILS = mailsStatement(`in (
  select message_id
    from (select d.message_id, sum(coalesce(length(b.body), 0)) over (order by d.message_id desc) as characters
            from (select message_id from carried_due
                   where organization_id = $1 order by message_id desc limit $2) as d
            left join message_content b on b.message_id = d.message_id) as waiting
   where characters <= $4)`);

function kindOf({ origin, own_address, sent_to, sent_outside }: MailRow, author: string): CarriedKind | undefined {
  if (sent_to !== null) return sent_outside ? 'outgoing' : 'internal';
  if (origin === 'submission') return 'internal';
  return origin === 'append' && author === placeOf(own_address) ? undefined : 'incoming';
}

/**
 * A program with a mailbox here can write any header into mail within this host and into what a client files: of these only the
 * envelope counts.
 */
function partiesOf(row: MailRow): string[] {
  if (row.sent_to !== null) return [...row.sent_to];
  if (row.origin === 'local') return [row.envelope_from ?? '', row.delivered_to ?? ''];
  if (row.origin !== 'smtp') return [];
  const named = [...row.from_addresses, ...row.to_addresses, ...row.cc_addresses].map(({ address }) => address);
  return [row.envelope_from ?? '', ...named].slice(0, PARTIES_MAX);
}
const PARTIES_MAX = 200;

/** The numbers of an organization are its own. */
export const saltOf = (organizationId: string): number => hashOf(organizationId);

/** Numbers of a message that are kept: at most some hundred. */
export function keptMarks({ organizationId, codes }: CarriedMail, { phrases, telling, facts }: CarriedText): number[] {
  const salt = saltOf(organizationId);
  const marks = [
    ...keptPhrases(phrases),
    ...telling.slice(0, TELLING_KEPT_MAX).map(({ mark }) => mark),
    ...facts.slice(0, FACTS_KEPT_MAX).map(({ mark }) => mark),
    ...codes.map(codeMark),
  ];
  return [...new Set(marks.map((mark) => storedMark(mark, salt)))];
}
const TELLING_KEPT_MAX = 200;
const FACTS_KEPT_MAX = 60;

/** Of the text of files, beside those of the message. */
function keptMarksOfDocument(organizationId: string, { phrases, telling, facts }: CarriedText): number[] {
  const salt = saltOf(organizationId);
  const marks = [
    ...keptPhrases(phrases, DOCUMENT_PHRASES_KEPT_MAX),
    ...telling.slice(0, TELLING_KEPT_MAX).map(({ mark }) => mark),
    ...facts.slice(0, TELLING_KEPT_MAX).map(({ mark }) => mark),
  ];
  return marks.map((mark) => storedMark(mark, salt));
}
const DOCUMENT_PHRASES_KEPT_MAX = 800;

/** Stores what messages say, unless another process has done so meanwhile. */
export async function storeCarriedMails(
  db: Database,
  organizationId: string,
  messageIds: readonly string[],
): Promise<void> {
  const mails = await readCarriedMails(db, organizationId, messageIds);
  const documents = await readDocuments(db, mails);
  const marks: [messageId: string, mark: number][] = [];
  for (const mail of mails) {
    const read = await readCarriedText(mail.text, rest);
    const kept = new Set(keptMarks(mail, read));
    const document = documents.get(mail.messageId);
    if (document !== undefined)
      for (const mark of keptMarksOfDocument(organizationId, await readCarriedText(document, rest))) kept.add(mark);
    for (const mark of kept) marks.push([mail.messageId, mark]);
    await rest();
  }
  await db.query(STORE, [
    messageIds,
    JSON.stringify(mails.map(({ messageId, kind, parties }) => ({ message_id: messageId, kind, parties }))),
    marks.map(([messageId]) => messageId),
    marks.map(([, mark]) => mark),
    JSON.stringify([...documents].map(([messageId, text]) => ({ message_id: messageId, text }))),
  ]);
}

/**
 * Stores the newest of these waiting messages that have files: what an agent sends on at once is not to leave because the
 * background has not read it yet.
 *
 * @returns whether any was stored
 */
export async function storeWaitingFiles(db: Database, waiting: readonly CarriedMail[]): Promise<boolean> {
  const newest = waiting
    .filter(({ hasFiles }) => hasFiles)
    .toSorted((a, b) => (a.messageId < b.messageId ? 1 : -1))
    .slice(0, CARRIED_DUE_FILES_MAX);
  const untilMs = performance.now() + CARRIED_DUE_FILES_MAX_MS;
  for (const { organizationId, messageId } of newest)
    if (performance.now() < untilMs) await storeCarriedMails(db, organizationId, [messageId]);
  return newest.length > 0;
}

/** Texts of files, by message. */
async function readDocuments(db: Database, mails: readonly CarriedMail[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const rows = await db.query<Parameters<typeof storedDocumentTexts>[1] & { readonly id: string }>(WITH_FILES, [
    mails.map(({ messageId }) => messageId),
  ]);
  for (const { id, ...message } of rows) {
    const text = await storedDocumentTexts(db, message);
    if (text !== '') texts.set(id, text);
  }
  return texts;
}

const WITH_FILES = `
  select id, mailbox_id as "mailboxId", blob, parts, attachments from message
   where id = any($1::text[]) and attachments <> '[]'`;

/** What was deleted meanwhile is due no longer. */
const STORE = `
  with taken as (
    delete from carried_due where message_id = any($1::text[]) returning message_id
  ), stored as (
    insert into carried_mail (message_id, kind, parties)
    select g.message_id, g.kind, g.parties
      from json_to_recordset($2::json) as g (message_id text, kind text, parties text[])
      join taken t on t.message_id = g.message_id
     order by g.message_id
    on conflict (message_id) do update set kind = excluded.kind, parties = excluded.parties
    returning number, message_id
  ), documents as (
    insert into carried_document (message_id, text)
    select d.message_id, d.text
      from json_to_recordset($5::json) as d (message_id text, text text) join taken t on t.message_id = d.message_id
    on conflict (message_id) do update set text = excluded.text
  )
  insert into carried_mark (mark, mail)
  select g.mark, s.number
    from unnest($3::text[], $4::int[]) as g (message_id, mark) join stored s on s.message_id = g.message_id
   order by 1, 2
  on conflict do nothing`;
