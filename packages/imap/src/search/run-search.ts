/** The common first part of SEARCH, SORT and THREAD. */

import type { Session } from '#imap/session/session.ts';
import { checkCharset, type ReturnOption, type SearchProgram, searchFolder } from './search-messages.ts';

/**
 * Indices that match, ascending. A search that fails leaves nothing saved (RFC 5182 §2.1).
 *
 * @throws {Refusal} BADCHARSET
 */
export async function runSearch(
  session: Session,
  program: SearchProgram,
  options: ReadonlySet<ReturnOption> | null,
): Promise<number[]> {
  try {
    checkCharset(program);
    if (program.modseq) session.useCondstore();
    return await searchFolder(session, program);
  } catch (error) {
    if (options?.has('SAVE') === true) session.selected.saved = new Uint32Array(0);
    throw error;
  }
}
