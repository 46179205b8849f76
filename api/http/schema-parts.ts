/** Parts of schemas that many routes share: objects, actors, pages of lists, brakes of sending. */
import Type, { type TObjectOptions, type TProperties, type TSchema } from 'typebox';
import type { Settings } from '#core/platform/settings/settings.ts';
import { CatalogueError } from '#domain/errors.ts';
import { type IdKind, idPattern, isId } from '#domain/ids.ts';
import { MAIL_RETENTION_MAX_DAYS } from '#domain/mail/mail-retention.ts';
import { BUDGET_MAX, SENDING_MODES } from '#domain/sending/sending-brakes.ts';
import { ACTOR_TYPES } from '#domain/webhooks/event-types.ts';

/** An object without further fields. */
export const closed = <const Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

export const nullable = <const Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** ISO 8601, UTC, with milliseconds. */
export const dateTime = (description?: string) =>
  Type.String({ format: 'date-time', ...(description === undefined ? {} : { description }) });

const text = () => nullable(Type.String());

/** Who did something; fields that do not apply to the type are null. */
export const Actor = closed(
  { type: Type.Enum([...ACTOR_TYPES]), id: text(), name: text(), email: text(), address: text() },
  { title: 'Actor' },
);

const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;

const keptDays = (since: string) =>
  nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAIL_RETENTION_MAX_DAYS,
      description: `Days after which a message is deleted, ${since}; null: it is kept.`,
    }),
  );

export const MailRetentionSchema = closed(
  {
    allMailDays: keptDays('since it came into the mailbox, in whatever folder it is'),
    trashDays: keptDays('since it came into the trash'),
    spamDays: keptDays('since it came into Junk'),
  },
  {
    title: 'MailRetention',
    description:
      'How long mail is kept: in a mailbox, or in all mailboxes of an organization without a `retention` of their own. Mail on legal hold is kept.',
  },
);

/** Query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: `Rows per page (default ${PAGE_DEFAULT}).` }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: '`nextCursor` of the previous page; opaque.' }),
  ),
};

/** Query of a list without filters. */
export const PageQuery = closed(pageQuery);

/** Schema of a list answer; the title is its name in the OpenAPI document, e.g. `MailboxList`. */
export const listOf = <Item extends TSchema, More extends TProperties = Record<never, never>>(
  item: Item,
  title: string,
  more?: More,
) =>
  closed(
    {
      data: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Send it as `cursor` for the next page; null on the last one.',
      }),
      ...more,
    },
    { title },
  );

export const encodeCursor = (lastId: string): string => Buffer.from(lastId).toString('base64url');

/** @throws {CatalogueError} invalid_request when the text is no cursor of a list of this kind */
export function decodeCursor(kind: IdKind, cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (isId(kind, id)) return id;
  throw new CatalogueError('invalid_request', undefined, {
    details: [{ path: 'query/cursor', message: 'is not a cursor of this list' }],
  });
}

export interface Page {
  readonly limit: number;
  /** Id of the last row of the page before. */
  readonly after: string | null;
}

export function pageOf(kind: IdKind, query: { limit?: number; cursor?: string }): Page {
  return {
    limit: query.limit ?? PAGE_DEFAULT,
    after: query.cursor === undefined ? null : decodeCursor(kind, query.cursor),
  };
}

/** Body of a list answer from `limit + 1` rows: the extra row only shows that there is a next page. */
export function listBody<Row extends { readonly id: string }, Item>(
  rows: readonly Row[],
  page: Page,
  present: (row: Row) => Item,
): { data: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    data: shown.map(present),
    nextCursor: rows.length > page.limit && last !== undefined ? encodeCursor(last.id) : null,
  };
}

export const MessageId = Type.String({ pattern: idPattern('message'), description: 'Message id.' });

export const timeOf = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;

export const SendingModeSchema = Type.Enum([...SENDING_MODES], {
  description:
    '`drafts_only`: an agent cannot send; it saves a draft, and a signed-in person sends that. `stopped`: nothing is sent; queued messages wait and are sent when the stop ends.',
});

/** A number of a day, or null. */
export const budget = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: BUDGET_MAX, description: `${description} Null: no limit.` }));

const MESSAGES = 'Messages per day (UTC); messages beyond this number are held for a person.';
const NEW_RECIPIENTS =
  'New recipients per day (UTC): outside the organization, nothing was sent to them before, and they did not write first. A message beyond this number is held for a person.';
export const MessagesBudget = budget(MESSAGES);
export const NewRecipientsBudget = budget(NEW_RECIPIENTS);

export const SendingBudgetsSchema = closed(
  { messagesPerDay: MessagesBudget, newRecipientsPerDay: NewRecipientsBudget },
  { title: 'SendingBudgets' },
);

export const SendingToday = closed(
  {
    sent: Type.Integer({ description: 'Messages sent today (UTC), without those that are held.' }),
    newRecipients: Type.Integer({ description: 'Recipients outside that got their first message today.' }),
    received: Type.Integer(),
    held: Type.Integer({ description: 'Messages that wait for a person now.' }),
  },
  { title: 'SendingToday' },
);

/** The URL of a workflow in the Temporal UI, if TEMPORAL_UI_URL is set. @param workflowId null: none yet */
export function temporalLink(
  workflowId: string | null,
  { TEMPORAL_UI_URL, TEMPORAL_NAMESPACE }: Pick<Settings, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>,
): { temporalUrl?: string } {
  if (workflowId === null || TEMPORAL_UI_URL === undefined) return {};
  const path = `namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflowId)}`;
  return { temporalUrl: `${TEMPORAL_UI_URL.replace(/\/+$/, '')}/${path}` };
}
