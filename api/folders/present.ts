import type { Folder, SpecialUse } from '@agent-mailbox/mail-store';
import type { FOLDER_ROLES } from './schema.ts';

const ROLES: Readonly<Record<SpecialUse, (typeof FOLDER_ROLES)[number]>> = {
  '\\Inbox': 'inbox',
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Archive': 'archive',
  '\\Junk': 'junk',
  '\\Trash': 'trash',
};

export const presentFolder = (folder: Folder) => ({
  id: folder.objectId,
  name: folder.name,
  role: folder.specialUse === null ? null : ROLES[folder.specialUse],
  messages: folder.total,
  unread: folder.unseen,
  sizeBytes: folder.bytes,
});
