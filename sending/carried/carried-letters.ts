/**
 * Letters without blanks of an outgoing message (first letters, Morse code, words written together) that are in other mail.
 * Their words cannot be looked up, so they are compared with the newest mail alone: of the mailbox, and of the organization.
 */
import type { Database } from '#db/database.ts';
import { LETTERS_COMPARED_MAX } from '#domain/sending/carried-mail.ts';
import { type CarriedMail, readCarriedMails, rest } from '#mailstore/carried/carried-mail.ts';
import { newestOfOrganization } from '#mailstore/carried/find-carried-mail.ts';
import { letterNumbers, lettersOf } from '#mime/carried/letter-runs.ts';
import type { CarriedSource } from './carried-passages.ts';

interface LettersQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly runs: readonly string[];
  /** Its recipients know it. */
  isKnown(mail: CarriedMail): boolean;
  /** The organization wrote it. */
  isOurs(mail: CarriedMail): boolean;
}

const SHOWN_MAX_CHARACTERS = 200;

export async function findCarriedLetters(db: Database, question: LettersQuestion): Promise<CarriedSource[]> {
  const wanted = new Map<number, string>();
  for (const run of question.runs)
    for (const [at, number] of letterNumbers(run).entries()) if (!wanted.has(number)) wanted.set(number, run.slice(at));
  if (wanted.size === 0) return [];
  const ids = await newestOfOrganization(db, question, LETTERS_COMPARED_MAX);
  const said = new Map<CarriedMail, Set<number>>();
  const excused = new Map<number, string>();
  for (const mail of await readCarriedMails(db, question.organizationId, ids)) {
    const common = new Set<number>();
    for (const number of letterNumbers(lettersOf(mail.text))) if (wanted.has(number)) common.add(number);
    await rest();
    if (common.size === 0) continue;
    if (question.isKnown(mail)) for (const number of common) excused.set(number, '');
    else if (question.isOurs(mail))
      for (const number of common) {
        const oldest = excused.get(number);
        if (oldest === undefined || mail.messageId < oldest) excused.set(number, mail.messageId);
      }
    else said.set(mail, common);
  }
  const sources: CarriedSource[] = [];
  for (const [mail, common] of said) {
    const telling = [...common].filter((number) => !((excused.get(number) ?? '~') < mail.messageId));
    const [first] = telling;
    if (first === undefined) continue;
    const sent = (wanted.get(first) ?? '').slice(0, SHOWN_MAX_CHARACTERS);
    sources.push({
      messageId: mail.messageId,
      count: 1,
      passages: [{ sent, source: mail.text.slice(0, SHOWN_MAX_CHARACTERS).toWellFormed() }],
    });
  }
  return sources;
}
