import Type from 'typebox';
import { closed, nullable } from '#api/http/schema-parts.ts';

export const FOLDER_ROLES = ['inbox', 'sent', 'drafts', 'archive', 'junk', 'trash'] as const;

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
