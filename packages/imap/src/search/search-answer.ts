/** Answers of SEARCH and SORT: the plain list, ESEARCH (RFC 4731, RFC 5267), and the saved result (RFC 5182). */

import { printSet } from '#imap/session/sequence-set.ts';
import type { Session } from '#imap/session/session.ts';
import type { ReturnOption } from './search-messages.ts';

export interface SearchAnswer {
  readonly verb: 'SEARCH' | 'SORT';
  readonly tag: string;
  readonly uid: boolean;
  readonly options: ReadonlySet<ReturnOption> | null;
  /** In the order of the answer. */
  readonly indices: readonly number[];
  /** The highest MODSEQ is wanted. */
  readonly modseq: boolean;
}

export function writeSearchAnswer(session: Session, answer: SearchAnswer): void {
  const { selected, out } = session;
  const { map } = selected;
  const { verb, tag, uid, indices, modseq } = answer;
  const number = (index: number): number => (uid ? map.uidAt(index) : index + 1);
  const options = answer.options ?? (session.rev2 && verb === 'SEARCH' ? new Set<ReturnOption>(['ALL']) : null);
  const highest = (list: readonly number[]): number =>
    list.reduce((most, index) => Math.max(most, map.modseqAt(index)), 0);
  if (options === null) {
    const list = indices.map(number);
    const end = modseq && list.length > 0 ? ` (MODSEQ ${highest(indices)})` : '';
    out.line(`* ${verb}${list.length > 0 ? ` ${list.join(' ')}` : ''}${end}`);
    return;
  }
  const [first] = indices;
  const last = indices.at(-1);
  const ends = [
    ...(options.has('MIN') && first !== undefined ? [first] : []),
    ...(options.has('MAX') && last !== undefined ? [last] : []),
  ];
  const everything = options.has('ALL') || options.has('COUNT') || ends.length === 0;
  const named = everything ? indices : ends;
  if (options.has('SAVE')) selected.saved = Uint32Array.from(named, (index) => map.uidAt(index)).sort();
  // SAVE alone is answered by the tagged OK.
  if (options.size === 1 && options.has('SAVE')) return;
  const parts = [`* ESEARCH (TAG "${tag}")`];
  if (uid) parts.push('UID');
  if (options.has('MIN') && first !== undefined) parts.push(`MIN ${number(first)}`);
  if (options.has('MAX') && last !== undefined) parts.push(`MAX ${number(last)}`);
  if (options.has('ALL') && indices.length > 0) parts.push(`ALL ${printSet(indices.map(number))}`);
  if (options.has('COUNT')) parts.push(`COUNT ${indices.length}`);
  if (modseq && indices.length > 0) parts.push(`MODSEQ ${highest(named)}`);
  out.line(parts.join(' '));
}
