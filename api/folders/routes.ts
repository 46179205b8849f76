import type { Folder as FolderRow, SpecialUse } from '@agent-mailbox/mail-store';
import Type from 'typebox';
import { type Route } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import type { Sql } from '#db/database.ts';
import { listFolders } from '#mailstore/folders/folders.ts';

const FOLDER_ROLES = ['inbox', 'sent', 'drafts', 'archive', 'junk', 'trash'] as const;

export const Folder = closed(
  {
    id: Type.String({ description: 'Does not change when the folder is renamed; IMAP calls it MAILBOXID.' }),
    name: Type.String({ description: 'Full name, `/` between levels.' }),
    role: nullable(Type.Enum([...FOLDER_ROLES], { description: 'The purpose of the folder, whatever its name.' })),
    messages: Type.Integer(),
    unread: Type.Integer(),
    sizeBytes: Type.Integer(),
  },
  { title: 'Folder' },
);

export const FolderList = closed({ data: Type.Array(Folder) }, { title: 'FolderList' });

const ROLES: Readonly<Record<SpecialUse, (typeof FOLDER_ROLES)[number]>> = {
  '\\Inbox': 'inbox',
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Archive': 'archive',
  '\\Junk': 'junk',
  '\\Trash': 'trash',
};

const presentFolder = (folder: FolderRow) => ({
  id: folder.objectId,
  name: folder.name,
  role: folder.specialUse === null ? null : ROLES[folder.specialUse],
  messages: folder.total,
  unread: folder.unseen,
  sizeBytes: folder.bytes,
});

const tag = 'Folders';
const responses = {
  200: {
    description: 'All folders, those with a role first.',
    schema: FolderList,
    example: {
      data: [
        { id: 'F17', name: 'INBOX', role: 'inbox' as const, messages: 12, unread: 3, sizeBytes: 81_920 },
        { id: 'F23', name: 'Projects/2026', role: null, messages: 4, unread: 0, sizeBytes: 20_480 },
      ],
    },
  },
} as const;

async function answerFolders(sql: Sql, mailboxId: string) {
  return { status: 200, body: { data: (await listFolders(sql, mailboxId)).map(presentFolder) } } as const;
}

export const folderRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/folders',
    operationIds: ['listMailboxFolders', 'listFolders'],
    tag,
    summary: 'List the folders of a mailbox',
    description: 'The same folders as by IMAP. The six with a `role` always exist; mail clients may add others.',
    responses,
    handler: ({ services }, { id }) => answerFolders(services.db, id),
  }),
];
