import Type from 'typebox';
import { closed, dateTime, listOf, nullable, PageQuery } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { idPattern } from '#domain/ids.ts';
import { LIST_DIRECTIONS } from '#sending/lists/sender-lists.ts';

const EntryId = Type.String({ pattern: idPattern('listEntry'), description: 'Id of the entry.' });
export const EntryPath = closed({ id: EntryId });
export const EntriesQuery = PageQuery;

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
export const EntryList = listOf(Entry, 'ListEntryList');

export const CreateEntry = closed(
  {
    value: Type.String({ minLength: 1, maxLength: VALUE_MAX_CHARACTERS, description: 'An address or a domain.' }),
    mailboxId: Type.Optional({ ...MailboxId, description: 'Only for this mailbox; default: for all.' }),
  },
  { title: 'NewListEntry' },
);

export const TestLists = closed(
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
