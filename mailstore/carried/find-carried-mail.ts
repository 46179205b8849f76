/**
 * Stored mail that has some of the given marks: along the index of marks, and of mail that waits for the background the
 * newest directly.
 */
import type { Sql } from '#db/database.ts';
import { readCarriedText } from '#mime/carried/carried-text.ts';
import { codeMark, storedMark } from '#mime/carried/telling-words.ts';
import { type CarriedKind, type CarriedMail, placeOf, readCarriedMails, rest, saltOf } from './carried-mail.ts';

/** A stored message and the given marks that it has. */
export interface MarkedMail
  extends Pick<CarriedMail, 'messageId' | 'mailboxId' | 'threadId' | 'kind' | 'author' | 'parties' | 'receivedAt'> {
  readonly marks: ReadonlySet<number>;
}

/** Messages that are looked at for one mark: of what many say it is enough to know that they do. */
export const MAILS_PER_MARK_MAX = 8;

interface MarkedRow {
  readonly message_id: string;
  readonly mailbox_id: string;
  readonly thread_id: string;
  readonly kind: CarriedKind;
  readonly author: string | null;
  readonly parties: readonly string[];
  readonly received_at: Date;
  readonly marks: readonly number[];
}

const mailOf = (row: MarkedRow): MarkedMail => ({
  messageId: row.message_id,
  mailboxId: row.mailbox_id,
  threadId: row.thread_id,
  kind: row.kind,
  author: placeOf(row.author ?? ''),
  parties: row.parties,
  receivedAt: row.received_at,
  marks: new Set(row.marks),
});

/** At most {@link MAILS_PER_MARK_MAX} for each mark. */
export async function findMarked(sql: Sql, organizationId: string, marks: readonly number[]): Promise<MarkedMail[]> {
  if (marks.length === 0) return [];
  const rows = await sql.query<MarkedRow>(markedStatement(''), [organizationId, marks]);
  return rows.map(mailOf);
}

/** The same, only mail that all of the recipients know or that was sent outside. */
export async function findExcusing(
  sql: Sql,
  organizationId: string,
  marks: readonly number[],
  recipients: readonly string[],
): Promise<MarkedMail[]> {
  if (marks.length === 0) return [];
  const rows = await sql.query<MarkedRow>(
    markedStatement(`and exists (
        select from carried_mail c where c.number = k.mail and (c.kind = 'outgoing' or c.parties @> $3::text[]))`),
    [organizationId, marks, recipients],
  );
  return rows.map(mailOf);
}

const markedStatement = (condition: string): string => `
  with found as materialized (
    select g.mark, k.mail from unnest($2::int[]) as g (mark)
     cross join lateral (
       select k.mail from carried_mark k where k.mark = g.mark ${condition} order by k.mail limit ${MAILS_PER_MARK_MAX}
     ) as k
  )
  select c.message_id, m.mailbox_id, m.thread_id, c.kind, c.parties, m.received_at,
         m.from_addresses -> 0 ->> 'address' as author, f.marks
    from (select mail, array_agg(mark) as marks from found group by mail) as f
    join carried_mail c on c.number = f.mail
    join message m on m.id = c.message_id
    join mailboxes x on x.id = m.mailbox_id
   where x.organization_id = $1`;

/** Those of the given messages that have wanted marks. */
export async function markedAmong(
  mails: readonly CarriedMail[],
  organizationId: string,
  wanted: ReadonlySet<number>,
): Promise<MarkedMail[]> {
  const salt = saltOf(organizationId);
  const found: MarkedMail[] = [];
  for (const mail of mails) {
    const { phrases, telling, facts } = await readCarriedText(mail.text, rest);
    const marks = new Set<number>();
    const add = (mark: number): void => {
      const stored = storedMark(mark, salt);
      if (wanted.has(stored)) marks.add(stored);
    };
    for (const phrase of phrases) add(phrase);
    for (const { mark } of telling) add(mark);
    for (const { mark } of facts) add(mark);
    for (const code of mail.codes) add(codeMark(code));
    if (marks.size > 0) found.push({ ...mail, marks });
    await rest();
  }
  return found;
}

/** The newest messages of a thread. */
export async function newestOfThread(sql: Sql, mailboxId: string, threadId: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from message where mailbox_id = $1 and thread_id = $2 order by id desc limit $3`,
    [mailboxId, threadId, limit],
  );
  return rows.map(({ id }) => id);
}

/** The newest messages of a mailbox, and of the mailboxes of its organization. @param limit of each */
export async function newestOfOrganization(
  sql: Sql,
  { organizationId, mailboxId }: { readonly organizationId: string; readonly mailboxId: string },
  limit: number,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(NEWEST, [organizationId, mailboxId, limit, NEWEST_OF_EACH]);
  return rows.map(({ id }) => id);
}
const NEWEST_OF_EACH = 20;

const NEWEST = `
  (select id from message where mailbox_id = $2 order by id desc limit $3)
  union
  (select m.id from mailboxes x cross join lateral (
     select id from message where mailbox_id = x.id order by id desc limit $4) as m
    where x.organization_id = $1 and x.id <> $2 order by m.id desc limit $3)`;

/** Beyond the numbers of marks. @param index of the file */
export const fileMark = (index: number): number => 2 ** 32 + index;

/** Messages with the same files, which have the mark of the file. @param digests SHA-256 in hexadecimal digits */
export async function findWithFiles(
  sql: Sql,
  organizationId: string,
  digests: readonly string[],
): Promise<MarkedMail[]> {
  if (digests.length === 0) return [];
  const rows = await sql.query<{ message_id: string; number: number }>(WITH_FILES, [organizationId, digests]);
  const mails = await readCarriedMails(sql, organizationId, [...new Set(rows.map(({ message_id: id }) => id))]);
  return mails.map((mail) => ({
    ...mail,
    marks: new Set(rows.filter((row) => row.message_id === mail.messageId).map(({ number }) => fileMark(number))),
  }));
}

/** Oldest first: where a file comes from. */
const WITH_FILES = `
  select d.message_id, g.number::int - 1 as number
    from unnest($2::text[]) with ordinality as g (digest, number)
   cross join lateral (
     select message_id from attachment_digest
      where organization_id = $1 and digest = decode(g.digest, 'hex') order by message_id limit ${MAILS_PER_MARK_MAX}
   ) as d`;
