import { StoreRefused } from '@agent-mailbox/mail-store';
import { FOLDER_DEPTH_MAX, FOLDER_NAME_MAX_BYTES } from '#domain/mail/mail-limits.ts';

export interface FolderName {
  /** In NFC, `/` between levels, INBOX in capitals. */
  readonly name: string;
  /** By which names are compared: two folders of a mailbox never differ by letter case alone. */
  readonly key: string;
}

const INBOX = /^inbox(?=\/|$)/i;

/** A name for look-up; it is not checked whether it could be created. */
export function folderName(given: string): FolderName {
  const name = given.normalize('NFC').replace(/\/$/, '').replace(INBOX, 'INBOX');
  return { name, key: name.toLowerCase() };
}

/**
 * A name for a new folder. A delimiter at its end, by which a client says that it will make children, is dropped
 * (RFC 9051 §6.3.4).
 *
 * @throws {StoreRefused} cannot, limit
 */
export function newFolderName(given: string): FolderName {
  const folder = folderName(given);
  const levels = folder.name.split('/');
  if (levels.includes('') || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(folder.name) || !folder.name.isWellFormed())
    throw new StoreRefused('cannot', 'A folder cannot have this name');
  if (levels.length > FOLDER_DEPTH_MAX || Buffer.byteLength(folder.name) > FOLDER_NAME_MAX_BYTES)
    throw new StoreRefused('limit', 'The name is too long or has too many levels');
  return folder;
}

/** The parent folders of a name, outermost first. */
export function parentsOf({ name }: FolderName): FolderName[] {
  const parents: FolderName[] = [];
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) parents.push(folderName(name.slice(0, at)));
  return parents;
}
