/**
 * Links of an outgoing message that could carry something away (`mime/carried/opaque-links.ts`) and that nobody has excused:
 *
 *   to a domain of the organization, or one on its outbound allow list ─▶ excused
 *   exactly this link in the newest messages of the thread that came in or were sent ─▶ excused
 */
import type { Database, Sql } from '#db/database.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { newestOfThread } from '#mailstore/carried/find-carried-mail.ts';
import { readHtml } from '#mailstore/messages/message-content.ts';
import { linksIn, type OpaqueLink, opaqueLinks } from '#mime/carried/opaque-links.ts';
import type { OutgoingTexts } from './carried-texts.ts';

interface LinksQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  /** The thread of the mailbox that the message answers in; null: none. */
  readonly threadId: string | null;
  readonly texts: OutgoingTexts;
}

const THREAD_MESSAGES = 10;

export async function opaqueLinksSent(db: Database, question: LinksQuestion): Promise<OpaqueLink[]> {
  const texts = question.texts.texts.map(({ text }) => text);
  // Most messages have none: nothing is asked for them.
  if (opaqueLinks(texts, () => false).length === 0) return [];
  const allowed = await allowedDomains(db, question);
  const links = opaqueLinks(texts, (host) => isWithin(host, allowed));
  if (links.length === 0 || question.threadId === null) return links;
  const known = await linksOfThread(db, question.mailboxId, question.threadId);
  return links.filter(({ href }) => !known.has(href));
}

const isWithin = (host: string, domains: ReadonlySet<string>): boolean =>
  host.split('.').some((_, from, labels) => domains.has(labels.slice(from).join('.')));

/** Of the organization itself, and those it allows. */
async function allowedDomains(
  sql: Sql,
  { organizationId, mailboxId }: Pick<LinksQuestion, 'organizationId' | 'mailboxId'>,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ value: string }>(ALLOWED, [organizationId, mailboxId]);
  return new Set(rows.map(({ value }) => domainOf(value)));
}

const ALLOWED = `
  select name as value from domains where organization_id = $1 and status = 'verified'
   union
  select value from sender_list
   where organization_id = $1 and (mailbox_id is null or mailbox_id = $2) and direction = 'outbound' and action = 'allow'
     and value not like '%@%'`;

/** As they are written in text and HTML of its newest messages. */
async function linksOfThread(db: Database, mailboxId: string, threadId: string): Promise<ReadonlySet<string>> {
  const ids = await newestOfThread(db, mailboxId, threadId, THREAD_MESSAGES);
  const rows = await db.query<{ blob: Buffer; parts: Parameters<typeof readHtml>[1]['parts']; body: string | null }>(
    `select m.blob, m.parts, c.body from message m left join message_content c on c.message_id = m.id
      where m.mailbox_id = $1 and m.id = any($2::text[]) and m.origin in ('smtp', 'local', 'submission')
        -- What the agent stored, or sent to itself, excuses nothing.
        and (m.origin <> 'local' or not exists (
          select from mailboxes x where x.id = $1 and x.address = lower(m.envelope_from)))`,
    [mailboxId, ids],
  );
  const known = new Set<string>();
  for (const { body, ...message } of rows) {
    const { html } = await readHtml(db, message);
    for (const text of [body ?? '', html ?? '']) for (const { href } of linksIn(text)) known.add(href);
  }
  return known;
}
