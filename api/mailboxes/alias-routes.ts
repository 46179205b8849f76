/** Aliases of a mailbox: for people, API keys, and the mailbox's own token. */
import Type, { type Static } from 'typebox';
import type { Route } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, nullable, PageQuery, pageOf, timeOf } from '#api/http/schema-parts.ts';
import { type Alias as AliasRow, createAlias, dropAlias, listAliases, updateAlias } from '#core/mailboxes/aliases.ts';
import { idPattern } from '#domain/ids.ts';
import {
  ALIAS_NOTE_MAX,
  ALIAS_REUSE_AFTER_DAYS,
  ALIAS_SENDERS_MAX,
  ALIASES_PER_MAILBOX_AND_DAY,
  UNLISTED_MAIL,
} from '#domain/mail/aliases.ts';
import { DOMAIN_NAME_MAX } from '#domain/mail/domain-names.ts';
import { LOCAL_PART_MAX } from '#domain/mail/mailbox-address.ts';
import { ADDRESS_MAX_CHARACTERS } from '#domain/sending/outbound.ts';
import { onMailbox } from './on-mailbox.ts';
import { MailboxId } from './schema.ts';

const AliasId = Type.String({ pattern: idPattern('alias'), description: 'Alias id.' });
const AliasPath = closed({ aid: AliasId });

const Note = Type.String({
  maxLength: ALIAS_NOTE_MAX,
  description: 'What it is for, such as the service that it was given to.',
});
const Senders = Type.Array(Type.String({ minLength: 1, maxLength: ADDRESS_MAX_CHARACTERS }), {
  maxItems: ALIAS_SENDERS_MAX,
  description:
    'Addresses and domains (their subdomains included) whose mail it takes; empty: everybody. An author counts if SPF, DKIM or DMARC proves that the mail is theirs.',
});
const Otherwise = Type.Enum([...UNLISTED_MAIL], {
  description: 'Mail of others: `refuse` answers it with 550; `hold` keeps it until a member decides.',
});
const LockToFirst = Type.Boolean({
  description: 'The first proven author who writes to it becomes its list of senders.',
});
const Folder = nullable(
  Type.String({ minLength: 1, maxLength: 1_000, description: 'Where its mail is filed; null: INBOX.' }),
);
const Enabled = Type.Boolean({ description: 'Whether it takes mail; otherwise it is answered 550.' });

const changes = {
  note: Type.Optional(Note),
  senders: Type.Optional(Senders),
  otherwise: Type.Optional(Otherwise),
  lockToFirst: Type.Optional(LockToFirst),
  folder: Type.Optional(Folder),
  enabled: Type.Optional(Enabled),
  expiresAt: Type.Optional(nullable(dateTime('In the future: it is answered 550 from then on. Null: never.'))),
};

const NewAlias = closed(
  {
    localPart: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LOCAL_PART_MAX,
        description:
          'Part before the @. Default: a random one that nobody can guess. A token of the mailbox may not choose one that looks official, such as `billing`.',
      }),
    ),
    tag: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'Instead of localPart: the address of the mailbox with this tag, as `bot+tag@…`.',
      }),
    ),
    domain: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: DOMAIN_NAME_MAX,
        description: 'That of the instance, or a verified one of the organization. Default: that of the mailbox.',
      }),
    ),
    ...changes,
  },
  { title: 'NewAlias' },
);
const AliasChanges = closed(changes, { title: 'AliasChanges', minProperties: 1 });

export const Alias = closed(
  {
    id: AliasId,
    mailboxId: MailboxId,
    address: Type.String(),
    note: Note,
    senders: Senders,
    otherwise: Otherwise,
    lockToFirst: LockToFirst,
    folder: Folder,
    enabled: Enabled,
    byToken: Type.Boolean({ description: 'Made by a token of the mailbox: its tokens may change and drop it.' }),
    expiresAt: nullable(dateTime()),
    createdAt: dateTime(),
    updatedAt: dateTime(),
  },
  { title: 'Alias' },
);
const AliasList = listOf(Alias, 'AliasList');

const presentAlias = ({ senders, expiresAt, createdAt, updatedAt, ...alias }: AliasRow): Static<typeof Alias> => ({
  ...alias,
  senders: [...senders],
  expiresAt: timeOf(expiresAt),
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

const tag = 'Mailboxes';
const example = {
  id: 'als_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  address: 'k3vq7w2mzp5xn8ra@agents.example.com',
  note: 'for shop.example',
  senders: ['shop.example'],
  otherwise: 'refuse',
  lockToFirst: false,
  folder: null,
  enabled: true,
  byToken: true,
  expiresAt: null,
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
} as const;

const timeGiven = <Given extends { readonly expiresAt?: string | null }>({ expiresAt, ...rest }: Given) => ({
  ...rest,
  ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
});

const ofMailbox = ({ organization }: { readonly organization: { readonly id: string } }, mailboxId: string) => ({
  organizationId: organization.id,
  mailboxId,
});

export const aliasRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/aliases',
    operationIds: ['listMailboxAliases', 'listAliases'],
    tag,
    summary: 'List aliases, newest first',
    description: 'Without those that were dropped.',
    query: PageQuery,
    responses: {
      200: { description: 'A page of aliases.', schema: AliasList, example: { data: [example], nextCursor: null } },
    },
    async handler(request, { id }) {
      const page = pageOf('alias', request.query);
      const rows = await listAliases(request.services.db, ofMailbox(request, id), page);
      return { status: 200, body: listBody(rows, page, presentAlias) };
    },
  }),
  ...onMailbox({
    method: 'POST',
    path: '/aliases',
    operationIds: ['createMailboxAlias', 'createAlias'],
    tag,
    summary: 'Create an alias',
    description: `A further address of the mailbox: chosen, the mailbox's own one with a tag, or random. A mailbox gets at most ${ALIASES_PER_MAILBOX_AND_DAY} in a day; \`limits.aliasesPerMailbox\` of the organization says how many it may have, \`settings.aliasesByToken\` how many of them its tokens may make.`,
    body: NewAlias,
    bodyExample: { note: 'for shop.example', senders: ['shop.example'] },
    responses: { 201: { description: 'The alias.', schema: Alias, example } },
    errors: ['invalid_local_part', 'plan_limit_reached', 'conflict', 'forbidden'],
    async handler(request, { id }) {
      const { services, caller, body } = request;
      const alias = await createAlias(services, ofMailbox(request, id), caller, timeGiven(body));
      return { status: 201, body: presentAlias(alias) };
    },
  }),
  ...onMailbox({
    method: 'PATCH',
    path: '/aliases/:aid',
    operationIds: ['updateMailboxAlias', 'updateAlias'],
    tag,
    summary: 'Change an alias',
    description: 'Omitted fields do not change. A token of the mailbox may only change aliases that a token made.',
    withoutCall: { mcp: 'An agent makes another alias and drops the old one.' },
    params: AliasPath,
    body: AliasChanges,
    bodyExample: { enabled: false },
    responses: { 200: { description: 'The alias.', schema: Alias, example: { ...example, enabled: false } } },
    errors: ['not_found', 'forbidden'],
    async handler(request, { id }) {
      const { services, caller, params, body } = request;
      const alias = await updateAlias(services, ofMailbox(request, id), params.aid, caller, timeGiven(body));
      return { status: 200, body: presentAlias(alias) };
    },
  }),
  ...onMailbox({
    method: 'DELETE',
    path: '/aliases/:aid',
    operationIds: ['dropMailboxAlias', 'dropAlias'],
    tag,
    summary: 'Drop an alias',
    description: `Its address is answered 550 from then on. Nobody gets it for ${ALIAS_REUSE_AFTER_DAYS} days; the same mailbox can make it again. A token of the mailbox may only drop aliases that a token made.`,
    params: AliasPath,
    responses: { 204: { description: 'Dropped.' } },
    errors: ['not_found', 'forbidden'],
    async handler(request, { id }) {
      const { services, caller, params } = request;
      await dropAlias(services, ofMailbox(request, id), params.aid, caller);
      return { status: 204 };
    },
  }),
];
