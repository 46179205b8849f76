import Type from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, nullable, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import { idPattern } from '#domain/ids.ts';
import {
  addListEntry,
  askLists,
  LIST_ACTIONS,
  LIST_DIRECTIONS,
  type ListAction,
  type ListDirection,
  type ListEntry,
  listEntries,
  removeListEntry,
} from '#sending/lists/sender-lists.ts';

const EntryId = Type.String({ pattern: idPattern('listEntry'), description: 'Id of the entry.' });
const EntryPath = closed({ id: EntryId });
const EntriesQuery = PageQuery;

const VALUE_MAX_CHARACTERS = 254;

export const Entry = closed(
  {
    id: EntryId,
    value: Type.String({ description: 'An address or a domain, in lower case.' }),
    mailboxId: nullable(MailboxId),
    createdAt: dateTime(),
  },
  { title: 'ListEntry' },
);
const EntryList = listOf(Entry, 'ListEntryList');

const CreateEntry = closed(
  {
    value: Type.String({ minLength: 1, maxLength: VALUE_MAX_CHARACTERS, description: 'An address or a domain.' }),
    mailboxId: Type.Optional({ ...MailboxId, description: 'Only for this mailbox; default: for all.' }),
  },
  { title: 'NewListEntry' },
);

const TestLists = closed(
  {
    direction: Type.Enum([...LIST_DIRECTIONS]),
    address: Type.String({ minLength: 3, maxLength: VALUE_MAX_CHARACTERS, description: 'Address of the other side.' }),
    mailboxId: Type.Optional({ ...MailboxId, description: 'Include the entries of this mailbox.' }),
  },
  { title: 'ListTest' },
);

export const ListVerdict = closed(
  {
    action: nullable(Type.Enum(['allow', 'block'], { description: 'Null: no entry matches.' })),
    rule: nullable(Type.String({ description: 'The entry that decides.' })),
  },
  { title: 'ListVerdict' },
);

const tag = 'Lists';

const example = {
  id: 'lst_01k8e8f2c0e4x9w2v7a3r5t6y8',
  value: 'customer.example',
  mailboxId: null,
  createdAt: '2026-11-21T09:15:00.000Z',
};

const presentEntry = ({ id, value, mailboxId, createdAt }: ListEntry) => ({
  id,
  value,
  mailboxId,
  createdAt: createdAt.toISOString(),
});

const MEANING: Readonly<Record<ListDirection, Readonly<Record<ListAction, string>>>> = {
  inbound: {
    allow: 'Senders whose mail is accepted although a less specific entry blocks them.',
    block: 'Senders whose mail is refused, with `email_blocked`.',
  },
  outbound: {
    allow:
      'Recipients who need no consent. Because this allows mail to be sent, it needs a person, or an API key if the organization sets `consentByApiKey`.',
    block: 'Recipients to whom nothing is sent, with `email_blocked`.',
  },
};

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function routesOf(direction: ListDirection, action: ListAction): Route[] {
  const path = `/api/lists/${direction}/${action}`;
  const name = `${capital(direction)}${capital(action)}`;
  const title = `the ${direction} ${action} list`;
  const description = `${MEANING[direction][action]} The most specific entry decides: mailbox before organization, address before domain, allow before block.`;
  // Who is allowed is a decision of a person: it excuses mail from screening, and what is sent after it was read.
  const decides = action === 'allow';
  return [
    route({
      method: 'GET',
      path,
      operationId: `list${name}`,
      withoutCall: { cli: SHOWN_TO_PERSONS },
      tag,
      summary: `List ${title}, newest first`,
      description,
      auth: { scope: 'mailbox:read' },
      query: EntriesQuery,
      responses: {
        200: { description: 'A page of entries.', schema: EntryList, example: { data: [example], nextCursor: null } },
      },
      async handler({ services, organization, query }) {
        const page = pageOf('listEntry', query);
        const rows = await listEntries(services.db, { organizationId: organization.id, direction, action }, page);
        return { status: 200, body: listBody(rows, page, presentEntry) };
      },
    }),
    route({
      method: 'POST',
      path,
      operationId: `add${name}`,
      withoutCall: { cli: SHOWN_TO_PERSONS },
      tag,
      summary: `Add to ${title}`,
      description,
      auth: { scope: 'mailbox:write' },
      body: CreateEntry,
      bodyExample: { value: 'customer.example' },
      responses: { 201: { description: 'The entry.', schema: Entry, example } },
      errors: ['conflict', 'not_found'],
      async handler({ services, organization, caller, body }) {
        if (decides) await requireDecider(services.db, organization.id, caller);
        if (body.mailboxId !== undefined) await getMailbox(services.db, organization.id, body.mailboxId);
        const list = { organizationId: organization.id, direction, action };
        const entry = { value: body.value, mailboxId: body.mailboxId ?? null };
        return { status: 201, body: presentEntry(await addListEntry(services, list, caller, entry)) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: `remove${name}`,
      withoutCall: { cli: SHOWN_TO_PERSONS },
      tag,
      summary: `Remove from ${title}`,
      ...(direction === 'outbound' && action === 'block'
        ? {
            description:
              'Needs a person, because it allows mail to be sent. An API key may do it only if the organization sets `consentByApiKey`.',
          }
        : {}),
      auth: { scope: 'mailbox:write' },
      params: EntryPath,
      responses: { 204: { description: 'Removed.' } },
      errors: ['not_found'],
      async handler({ services, organization, caller, params }) {
        await removeListEntry(services, { organizationId: organization.id, direction, action }, caller, params.id);
        return { status: 204 };
      },
    }),
  ];
}

export const listRoutes: readonly Route[] = [
  ...LIST_DIRECTIONS.flatMap((direction) => LIST_ACTIONS.flatMap((action) => routesOf(direction, action))),
  route({
    method: 'POST',
    path: '/api/lists/test',
    operationId: 'testLists',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Evaluate the lists for an address',
    auth: { scope: 'mailbox:read' },
    body: TestLists,
    bodyExample: { direction: 'outbound', address: 'ada@customer.example' },
    responses: {
      200: {
        description: 'The entry that decides, if any.',
        schema: ListVerdict,
        example: { action: 'allow', rule: 'customer.example' },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, body }) {
      if (body.mailboxId !== undefined) await getMailbox(services.db, organization.id, body.mailboxId);
      const verdicts = await askLists(services.db, {
        organizationId: organization.id,
        mailboxId: body.mailboxId ?? null,
        direction: body.direction,
        addresses: [body.address],
      });
      const verdict = verdicts.get(body.address.toLowerCase());
      return { status: 200, body: { action: verdict?.action ?? null, rule: verdict?.value ?? null } };
    },
  }),
];
