/** `legal-holds …`: content of a mailbox or an organization is kept, whatever deletes it. */
import { type LegalHold, liftLegalHold, listLegalHolds, setLegalHold } from '#core/mailboxes/legal-holds.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { LEGAL_HOLD_REASON_MAX } from '#domain/mail/mail-retention.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { CommandError, command } from '#operations/command.ts';

const POOL_MAX = 1;
const OPERATOR: Caller = { actor: { ...SYSTEM_ACTOR, name: 'operator' }, ipAddress: null, requestId: null };

const reason: Form<string> = {
  takes: `a text of 1 to ${LEGAL_HOLD_REASON_MAX} characters`,
  parse: (value) => (value.trim() !== '' && value.length <= LEGAL_HOLD_REASON_MAX ? value : undefined),
};
const organization = { text: 'id or slug' } as const;

/** @throws {CommandError} */
async function requireOrganization(sql: Sql, idOrSlug: string): Promise<string> {
  const [row] = await sql.query<{ id: string }>(`select id from organizations where id = $1 or slug = $1`, [idOrSlug]);
  if (row === undefined)
    throw new CommandError(`there is no organization ${idOrSlug}: see \`organizations list\` for ids and slugs`);
  return row.id;
}

/** Also of a deleted mailbox, of which something may be left. @throws {CommandError} */
async function requireMailbox(sql: Sql, organizationId: string, idOrAddress: string): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    `select id from mailboxes where organization_id = $1 and (id = $2 or address = lower($2))
      order by deleted_at desc nulls first limit 1`,
    [organizationId, idOrAddress],
  );
  if (row === undefined) throw new CommandError(`the organization has no mailbox ${idOrAddress}`);
  return row.id;
}

const line = ({ id, mailboxAddress, reason: why, preservedMessages, createdAt }: LegalHold): string =>
  `${id}  ${createdAt.toISOString()}  ${mailboxAddress ?? 'all mailboxes'}  ${preservedMessages} preserved  ${why}`;

/** A refusal of a use case, as its message. */
function expected(error: unknown): never {
  throw error instanceof CatalogueError ? new CommandError(`${error.message} ${error.fix}`) : error;
}

export const listLegalHoldsCommand = command({
  name: 'legal-holds list',
  summary: 'list the legal holds of an organization',
  description:
    'Lists the holds, newest first, with the number of messages in no folder that they keep. Changes nothing.',
  arguments: { organization },
  options: {},
  async run({ args, database, output }) {
    const db = await database(POOL_MAX);
    const holds = await listLegalHolds(db, await requireOrganization(db, args.organization));
    output({ legalHolds: holds }, holds.map(line).join('\n') || 'There is no legal hold.');
    return 'done';
  },
});

export const setLegalHoldCommand = command({
  name: 'legal-holds set',
  summary: 'put a mailbox, or a whole organization, on legal hold',
  description:
    'From the answer on, no content of the mailbox, or of all mailboxes of the organization, is deleted: retention and expiry leave it, deletions by people, agents and mail clients only hide messages, and erasures are refused. Running it twice sets two holds, each to be lifted.',
  arguments: { organization, reason: { text: 'for the audit log and the owners', form: reason } },
  options: {
    mailbox: {
      text: 'only this mailbox; it may be deleted (default: all)',
      value: 'id or address',
      form: { takes: 'an id or an address', parse: (value: string) => (value === '' ? undefined : value) },
    },
  },
  examples: ['legal-holds set example "Case 2026-114" --mailbox desk@example.com'],
  async run(context) {
    const services = await context.services();
    const { db } = services;
    const organizationId = await requireOrganization(db, context.args.organization);
    const { mailbox } = context.options;
    const mailboxId = mailbox === undefined ? null : await requireMailbox(db, organizationId, mailbox);
    const hold = await setLegalHold(services, organizationId, OPERATOR, {
      mailboxId,
      reason: context.args.reason,
    }).catch(expected);
    context.output({ ...hold }, line(hold));
    return 'done';
  },
});

export const liftLegalHoldCommand = command({
  name: 'legal-holds lift',
  summary: 'lift a legal hold',
  description: 'What no other hold keeps is deleted by the next runs of retention, within some hours.',
  arguments: { organization, hold: { text: 'its id (lgh_…)' } },
  options: {},
  async run(context) {
    const services = await context.services();
    const organizationId = await requireOrganization(services.db, context.args.organization);
    await liftLegalHold(services, organizationId, context.args.hold, OPERATOR).catch(expected);
    context.output({ id: context.args.hold, lifted: true }, `${context.args.hold} is lifted.`);
    return 'done';
  },
});
