/** The files in a tar file (POSIX ustar and pax, GNU long names), listed once. Of an entry only name and place are kept. */
import { BLOCK_BYTES, readTarHeader } from './archive-format.ts';
import { type FoundEntry, inOrder, type MailFiles, type OpenFile } from './mail-files.ts';
import { MovingError } from './moving-error.ts';

/** The list is in memory. */
const ENTRIES_MAX = 500_000;
/** Deeper names are left out: mailboxes have no folders so deep. */
const LEVELS_MAX = 33;
const NAME_MAX_BYTES = 4_096;
const LINK_TYPES = '12';
const FOLDER_TYPE = '5';
/** Of the next entry: a long name of GNU, fields of pax. */
const GNU_NAME = 'L';
const PAX_FIELDS = 'x';
/** Fields for all that follow, and long targets of links. */
const LEFT_OUT = 'gK';
const PAX_MAX_BYTES = 65_536;

interface Placed {
  readonly at: number;
  readonly size: number;
  readonly modifiedAt: Date;
}

/** @throws {MovingError} if it is no tar file, or has too many entries */
export async function filesInTar(file: OpenFile): Promise<MailFiles> {
  const places = new Map<string, Placed>();
  const folders = new Map<string, Map<string, FoundEntry>>([['', new Map()]]);
  const add = (relative: string, kind: FoundEntry['kind']) => {
    const cut = relative.lastIndexOf('/');
    const parent = cut < 0 ? '' : relative.slice(0, cut);
    if (!folders.has(parent)) add(parent, 'folder');
    folders.get(parent)?.set(relative, { relative, kind });
    if (kind === 'folder' && !folders.has(relative)) folders.set(relative, new Map());
  };
  let count = 0;
  let longName: string | undefined;
  for (let at = 0; ; ) {
    const block = await file.read(at, BLOCK_BYTES);
    // One that ends without an end was cut: what is there is read.
    const header = block.length === BLOCK_BYTES ? readTarHeader(block) : 'end';
    if (header === undefined)
      throw new MovingError(count === 0 ? 'it is no tar file' : `the tar file is damaged at byte ${at}`);
    if (header === 'end') break;
    const { size, type, modifiedAt } = header;
    const from = at + BLOCK_BYTES;
    at = from + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    if (++count > ENTRIES_MAX)
      throw new MovingError(`the tar file has more than ${ENTRIES_MAX} entries: import parts of it, or from a folder`);
    if (type === GNU_NAME || type === PAX_FIELDS) {
      const content = (await file.read(from, Math.min(size, PAX_MAX_BYTES))).toString();
      longName = type === GNU_NAME ? content.replace(/\0.*$/s, '') : (paxPath(content) ?? longName);
      continue;
    }
    if (LEFT_OUT.includes(type) && type !== '') continue;
    const name = cleanName(longName ?? header.name);
    longName = undefined;
    if (name === undefined) continue;
    if (type === FOLDER_TYPE) add(name, 'folder');
    else if (header.isFile) {
      add(name, 'file');
      places.set(name, { at: from, size: Math.min(size, Math.max(0, file.size - from)), modifiedAt });
    } else add(name, LINK_TYPES.includes(type) ? 'link' : 'other');
  }
  if (count === 0) throw new MovingError('it is no tar file');
  return {
    entriesOf: async (relative) => inOrder([...(folders.get(relative)?.values() ?? [])]),
    async open(relative) {
      const place = places.get(relative);
      if (place === undefined) throw new Error('it is no regular file');
      return {
        size: place.size,
        modifiedAt: place.modifiedAt,
        read: (from, length) => file.read(place.at + from, Math.max(0, Math.min(length, place.size - from))),
        close: async () => {},
      };
    },
  };
}

/** With `/`, without `.` and empty levels; undefined: nothing is left of it. `..` is a name as any other. */
function cleanName(given: string): string | undefined {
  const levels = given.split('/').filter((level) => level !== '' && level !== '.');
  // Each level is a folder in memory.
  if (levels.length > LEVELS_MAX) return undefined;
  const name = levels.join('/');
  return name === '' || Buffer.byteLength(name) > NAME_MAX_BYTES ? undefined : name;
}

/** The field `path` of `<length> path=<value>\n`. */
const paxPath = (text: string): string | undefined => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];
