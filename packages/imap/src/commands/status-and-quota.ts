/**
 * Figures of a folder, for STATUS and LIST RETURN (STATUS …) (RFC 9051 §6.3.11; RFC 7162, 8438, 8474, 7889, 9208), and
 * of the one quota root of a mailbox, named by the empty string (RFC 9208).
 */
import type { Folder, FolderView } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { command, LOGGED_IN } from '#imap/command.ts';
import type { Session } from '#imap/session/session.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';
import { folderName, nameArgument, wireName } from '#imap/wire/values.ts';

export const STATUS_ITEMS = [
  'MESSAGES',
  'RECENT',
  'UIDNEXT',
  'UIDVALIDITY',
  'UNSEEN',
  'DELETED',
  'DELETED-STORAGE',
  'SIZE',
  'HIGHESTMODSEQ',
  'MAILBOXID',
  'APPENDLIMIT',
] as const;
export type StatusItem = (typeof STATUS_ITEMS)[number];

export function parseStatusItems(scan: Scanner): StatusItem[] {
  return scan.list(() => {
    const word = scan.word();
    return STATUS_ITEMS.find((item) => item === word) ?? scan.fail('a known status item');
  }, false);
}

export async function statusLine(session: Session, folder: Folder, items: readonly StatusItem[]): Promise<string> {
  if (items.includes('HIGHESTMODSEQ')) session.useCondstore();
  // Of the selected folder it contains what was reported to this session, not later changes.
  const selected = session.selectedOrNull?.folder.id === folder.id ? session.selected : undefined;
  let view: FolderView | undefined;
  const viewed = async () => (view ??= await session.store.view(folder.id, false));
  const value = async (item: StatusItem): Promise<string | number> => {
    switch (item) {
      case 'MESSAGES':
        return selected?.map.count ?? folder.total;
      case 'RECENT': {
        // \Recent is not claimed here; with rev2 there is none.
        if (selected !== undefined && !session.rev2) return selected.recentCount;
        if (session.rev2 || folder.recentFrom >= folder.uidNext) return 0;
        return (await viewed())?.uids.filter((uid) => uid >= folder.recentFrom).length ?? 0;
      }
      case 'UIDNEXT':
        return selected?.uidNext ?? folder.uidNext;
      case 'UIDVALIDITY':
        return folder.uidValidity;
      case 'UNSEEN':
        return selected === undefined ? folder.unseen : selected.map.count - selected.map.countFlag(MAIL_FLAGS.seen);
      case 'DELETED':
        return selected?.map.countFlag(MAIL_FLAGS.deleted) ?? folder.deleted;
      case 'DELETED-STORAGE': {
        const all = folder.deleted === 0 ? undefined : await viewed();
        const uids = all?.uids.filter((_, i) => ((all.flags[i] ?? 0) & MAIL_FLAGS.deleted) !== 0);
        let bytes = 0;
        if (uids !== undefined)
          for await (const rows of session.store.rows(folder.id, uids, SIZES_ONLY))
            for (const { size } of rows) bytes += size;
        return Math.ceil(bytes / STORAGE_UNIT_BYTES);
      }
      case 'SIZE':
        return folder.bytes;
      case 'HIGHESTMODSEQ':
        return selected?.highestModseq ?? folder.highestModseq;
      case 'MAILBOXID':
        return `(${folder.objectId})`;
      case 'APPENDLIMIT':
        return session.options.limits.messageMaxBytes;
    }
  };
  const pairs: string[] = [];
  for (const item of items) pairs.push(`${item} ${await value(item)}`);
  return `* STATUS ${wireName(folder.name, session.utf8)} (${pairs.join(' ')})`;
}

const SIZES_ONLY = { envelope: false, bodyStructure: false, parts: false, preview: false, sortKeys: false };

const STORAGE_UNIT_BYTES = 1_024;

/** Bytes alone have a limit; a resource without one is left out (RFC 9208 §5.1). */
async function quotaLine(session: Session): Promise<string> {
  const { usedBytes, limitBytes } = await session.store.quota();
  const used = Math.ceil(usedBytes / STORAGE_UNIT_BYTES);
  const limit = Math.floor(limitBytes / STORAGE_UNIT_BYTES);
  return `* QUOTA "" (STORAGE ${used} ${limit})`;
}

/** STATUS (RFC 9051 §6.3.11). */
const status = command({
  verb: 'STATUS',
  states: LOGGED_IN,
  args(scan, context) {
    scan.space();
    const name = folderName(scan, context);
    scan.space();
    return { name, items: parseStatusItems(scan) };
  },
  async run({ session }, { name, items }) {
    await session.reportSelected();
    session.out.line(await statusLine(session, await session.folder(name), items));
    return ok('STATUS completed');
  },
});

/** GETQUOTA (RFC 9208 §4.1.1). */
const getquota = command({
  verb: 'GETQUOTA',
  states: LOGGED_IN,
  args(scan) {
    scan.space();
    return scan.astring();
  },
  async run({ session }, root) {
    if (root !== '') throw new Refusal('NONEXISTENT', 'No such quota root');
    session.out.line(await quotaLine(session));
    return ok('GETQUOTA completed');
  },
});

/** GETQUOTAROOT (RFC 9208 §4.1.2). */
const getquotaroot = command({
  verb: 'GETQUOTAROOT',
  states: LOGGED_IN,
  args: nameArgument,
  async run({ session }, name) {
    const folder = await session.folder(name);
    session.out.line(`* QUOTAROOT ${wireName(folder.name, session.utf8)} ""`);
    session.out.line(await quotaLine(session));
    return ok('GETQUOTAROOT completed');
  },
});

export const STATUS_COMMANDS = [status, getquota, getquotaroot];
