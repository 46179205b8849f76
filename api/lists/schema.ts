import Type from 'typebox';
import { LIST_DIRECTIONS } from '../../core/sender-lists.ts';
import { idPattern } from '../../domain/ids.ts';
import { MailboxId } from '../mailboxes/schema.ts';
import { listOf, PageQuery } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

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
export const EntryList = listOf(Entry);

export const CreateEntry = closed({
  value: Type.String({ minLength: 1, maxLength: VALUE_MAX_CHARACTERS, description: 'An address or a domain.' }),
  mailboxId: Type.Optional({ ...MailboxId, description: 'Only for this mailbox; default: for all.' }),
});

export const TestLists = closed({
  direction: Type.Enum([...LIST_DIRECTIONS]),
  address: Type.String({ minLength: 3, maxLength: VALUE_MAX_CHARACTERS, description: 'Address of the other side.' }),
  mailboxId: Type.Optional({ ...MailboxId, description: 'Ask for this mailbox, with its own entries.' }),
});

export const ListVerdict = closed(
  {
    action: nullable(Type.Enum(['allow', 'block'], { description: 'Null: no entry matches.' })),
    rule: nullable(Type.String({ description: 'The entry that decides.' })),
  },
  { title: 'ListVerdict' },
);
