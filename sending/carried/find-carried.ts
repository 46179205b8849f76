/**
 * Compares an outgoing message with mail of its organization that its recipients neither wrote nor got.
 *
 *   texts as a person may decode them ─▶ marks ─▶ stored mail with the same marks ─▶ not known, not ours, not common
 *     ─▶ their texts word by word ─▶ passages
 *
 * A message is known if every outside recipient is a party to it, or, in the thread that is answered, one of them. A phrase
 * is ours if the organization wrote it before the other message came: an answer quotes our words, and a copy that we sent of
 * another's words is younger than they. It is common if senders of several domains write it, or several recipients got it.
 */
import type { Database } from '#db/database.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import {
  CARRIED_CODE_DAYS,
  CARRIED_COMPARED_MAX,
  CARRIED_PASSAGES_SHOWN_MAX,
  CARRIED_READINGS_MAX,
  CARRIED_SOURCES_MAX,
  COMMON_RECIPIENTS_MIN,
  COMMON_SENDERS_MIN,
} from '#domain/sending/carried-mail.ts';
import {
  type CarriedMail,
  placeOf,
  readCarriedMails,
  readDueMails,
  rest,
  saltOf,
  storeWaitingFiles,
} from '#mailstore/carried/carried-mail.ts';
import {
  fileMark,
  findExcusing,
  findMarked,
  findWithFiles,
  MAILS_PER_MARK_MAX,
  type MarkedMail,
  markedAmong,
  newestOfThread,
} from '#mailstore/carried/find-carried-mail.ts';
import { type CarriedText, readCarriedText } from '#mime/carried/carried-text.ts';
import { letterRuns } from '#mime/carried/letter-runs.ts';
import {
  excerptOf,
  findingPhrases,
  markCommon,
  PHRASE_WORDS,
  phrasesOf,
  tellingPassages,
} from '#mime/carried/phrases.ts';
import { type ReadingForm, readingsOf } from '#mime/carried/readings.ts';
import {
  CHECKED_TELLING_MAX,
  codeMark,
  hiddenMarks,
  storedMark,
  type TellingMark,
} from '#mime/carried/telling-words.ts';
import { backwards } from '#mime/carried/words.ts';
import { findCarriedLetters } from './carried-letters.ts';
import type { CarriedPassage, CarriedSource } from './carried-passages.ts';
import type { OutgoingTexts } from './carried-texts.ts';

/** What a comparison found. */
export interface Carried {
  readonly sources: readonly CarriedSource[];
  /** The message says more than was compared. */
  readonly cut: boolean;
}

/** An attached file. */
export interface OutgoingFile {
  readonly name: string;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
}

export interface CarriedQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  /** The thread of the mailbox that the message answers in; null: none. */
  readonly threadId: string | null;
  /** Recipients outside the organization. */
  readonly outside: readonly string[];
  readonly texts: OutgoingTexts;
  readonly files: readonly OutgoingFile[];
  readonly now: Date;
}

/** A text as one of its readings. */
interface Reading extends CarriedText {
  readonly form: ReadingForm;
  /** Phrases that are looked up. */
  readonly asked: Iterable<number>;
}

/** Of a longer text the phrases are looked up by which every passage of 16 words is found. */
const ALL_PHRASES_WORDS_MAX = 4_000;
/** Of so short ones all of them. */
const FEW_WORDS = 60;
const DAY_MS = 86_400_000;
const THREAD_MESSAGES = 5;

/** Most passages first; no source: it carries nothing, as far as it was compared. */
export async function findCarried(db: Database, question: CarriedQuestion): Promise<Carried> {
  const { readings, runs, cut } = await readAll(question.texts);
  const sources = await sourcesOf(db, question, readings);
  if (sources.length > 0 || runs.length === 0) return { sources, cut };
  const parties = new Evidence(question, [], new Set());
  return {
    sources: await findCarriedLetters(db, {
      ...question,
      runs,
      isKnown: (mail) => parties.isKnown(mail),
      isOurs: (mail) => parties.isOurs(mail),
    }),
    cut,
  };
}

async function sourcesOf(
  db: Database,
  question: CarriedQuestion,
  readings: readonly Reading[],
): Promise<CarriedSource[]> {
  const { organizationId } = question;
  const salt = saltOf(organizationId);
  const wanted = new Set<number>();
  const codes = new Set<number>();
  for (const { asked, telling, facts, codes: maybeCodes } of readings) {
    for (const phrase of asked) wanted.add(storedMark(phrase, salt));
    for (const { mark } of telling) wanted.add(storedMark(mark, salt));
    for (const { mark } of facts) wanted.add(storedMark(mark, salt));
    for (const { mark } of maybeCodes) codes.add(storedMark(mark, salt));
  }
  for (const code of codes) wanted.add(code);
  if (wanted.size === 0 && question.files.length === 0) return [];
  // In this order: what the background stores meanwhile is in both.
  const look = () =>
    db.together((sql) =>
      Promise.all([readDueMails(sql, organizationId), findMarked(sql, organizationId, [...wanted])]),
    );
  const seen = await look();
  const [waiting, stored] = (await storeWaitingFiles(db, seen[0])) ? await look() : seen;
  const due = await markedAmong(waiting, organizationId, wanted);
  const digests = question.files.map(({ digest }) => digest);
  const holders = merged(merged(due, stored), await findWithFiles(db, organizationId, digests));
  const first = new Evidence(question, holders, codes);
  if (first.candidates.length === 0) return [];
  const unsure = first.unexcused.filter((mark) => (first.holdersOf.get(mark)?.length ?? 0) >= MAILS_PER_MARK_MAX);
  const excusing = await findExcusing(db, organizationId, unsure, placesOf(question));
  const evidence = excusing.length === 0 ? first : new Evidence(question, merged(holders, excusing), codes);
  return evidence.candidates.length === 0 ? [] : compareTexts(db, question, readings, evidence, salt);
}

const placesOf = ({ outside }: CarriedQuestion): string[] => [...new Set(outside.map(placeOf))].sort();

/** `cut`: there are more than are compared. */
async function readAll({ texts }: OutgoingTexts): Promise<{ readings: Reading[]; runs: string[]; cut: boolean }> {
  const readings: Reading[] = [];
  const runs: string[] = [];
  const limits = { cut: false };
  for (const { text, isRead } of texts) {
    let isFirst = isRead;
    for (const reading of readingsOf(text, limits)) {
      if (readings.length >= CARRIED_READINGS_MAX) return { readings, runs, cut: true };
      const { form } = reading;
      runs.push(...letterRuns(reading));
      // Its words are none.
      if (form === 'letters') continue;
      const read = await readCarriedText(reading.text, rest, CHECKED_TELLING_MAX);
      // A person reads it so, or would be told it so.
      const all = read.words.count <= (isFirst ? ALL_PHRASES_WORDS_MAX : FEW_WORDS);
      const telling = isRead ? [...read.telling, ...hiddenMarks(reading.text)] : read.telling;
      readings.push({ ...read, telling, form, asked: all ? read.phrases : findingPhrases(read.phrases) });
      if (isFirst && read.words.count > PHRASE_WORDS) {
        const words = backwards(read.words);
        const phrases = phrasesOf(words);
        const asked = read.words.count <= FEW_WORDS ? phrases : findingPhrases(phrases);
        readings.push({ words, phrases, telling: [], facts: [], codes: [], form: 'words', asked });
      }
      isFirst = false;
    }
  }
  return { readings, runs, cut: limits.cut };
}

function merged(mails: readonly MarkedMail[], more: readonly MarkedMail[]): MarkedMail[] {
  const byId = new Map(mails.map((mail) => [mail.messageId, mail]));
  for (const mail of more) {
    const known = byId.get(mail.messageId);
    byId.set(mail.messageId, known === undefined ? mail : { ...known, marks: known.marks.union(mail.marks) });
  }
  return [...byId.values()];
}

/** What marks alone say about who wrote and who knows what. */
class Evidence {
  readonly #question: CarriedQuestion;
  readonly #codes: ReadonlySet<number>;
  readonly #recipients: readonly string[];
  readonly holdersOf = new Map<number, MarkedMail[]>();
  /** Other mail that has marks nothing excuses, the likeliest first. */
  readonly candidates: readonly MarkedMail[];
  /** Further mail of others, one of each domain: what several write is common. */
  readonly witnesses: readonly MarkedMail[];
  /** Mail whose words excuse those of others. */
  readonly excusers: readonly MarkedMail[];
  readonly unexcused: readonly number[];

  constructor(question: CarriedQuestion, holders: readonly MarkedMail[], codes: ReadonlySet<number>) {
    this.#question = question;
    this.#codes = codes;
    this.#recipients = placesOf(question);
    for (const mail of holders)
      for (const mark of mail.marks) {
        const list = this.holdersOf.get(mark);
        if (list === undefined) this.holdersOf.set(mark, [mail]);
        else list.push(mail);
      }
    const unexcused = new Set<number>();
    this.candidates = holders
      .filter((mail) => this.isOther(mail))
      .map((mail) => ({ mail, marks: [...mail.marks].filter((mark) => !this.excuses(mark, mail)) }))
      .filter(({ marks }) => marks.length > 0)
      .sort((a, b) => b.marks.length - a.marks.length || (a.mail.messageId < b.mail.messageId ? 1 : -1))
      .slice(0, CARRIED_COMPARED_MAX)
      .map(({ mail, marks }) => {
        for (const mark of marks) unexcused.add(mark);
        return mail;
      });
    this.unexcused = [...unexcused];
    const others = holders.filter((mail) => this.isOther(mail) && !this.candidates.includes(mail));
    this.witnesses = [...new Map(others.map((mail) => [domainOf(mail.author), mail])).values()]
      .sort((a, b) => b.marks.size - a.marks.size)
      .slice(0, CARRIED_COMPARED_MAX);
    this.excusers = holders
      .filter((mail) => this.isKnown(mail) || this.isOurs(mail))
      .sort((a, b) => b.marks.size - a.marks.size)
      .slice(0, CARRIED_COMPARED_MAX);
  }

  isKnown({ mailboxId, threadId, parties }: Pick<MarkedMail, 'mailboxId' | 'threadId' | 'parties'>): boolean {
    const isInThread = mailboxId === this.#question.mailboxId && threadId === this.#question.threadId;
    const isParty = (address: string): boolean => parties.includes(address);
    return isInThread ? this.#recipients.some(isParty) : this.#recipients.every(isParty);
  }

  isOurs({ kind, mailboxId }: Pick<MarkedMail, 'kind' | 'mailboxId'>): boolean {
    return kind === 'outgoing' || (kind === 'internal' && mailboxId === this.#question.mailboxId);
  }

  isOther(mail: MarkedMail): boolean {
    return !this.isKnown(mail) && !this.isOurs(mail);
  }

  /** Whether a mark of other mail says nothing about it. */
  excuses(mark: number, other: MarkedMail): boolean {
    const holders = this.holdersOf.get(mark) ?? [];
    if (holders.some((mail) => this.isKnown(mail) || (this.isOurs(mail) && mail.messageId < other.messageId)))
      return true;
    // A code has few characters: that of an older mail is another's by chance.
    const since = this.#question.now.getTime() - CARRIED_CODE_DAYS * DAY_MS;
    return (this.#codes.has(mark) && other.receivedAt.getTime() < since) || isCommon(holders);
  }
}

type Said = Pick<MarkedMail, 'kind' | 'author' | 'parties'>;

/** Whether what these messages all say is a common phrase. */
function isCommon(mails: readonly Said[]): boolean {
  const incoming = mails.filter(({ kind }) => kind === 'incoming');
  if (new Set(incoming.map(({ author }) => domainOf(author))).size >= COMMON_SENDERS_MIN) return true;
  const recipients = mails
    .filter(({ kind }) => kind === 'outgoing')
    .flatMap(({ author, parties }) => parties.filter((address) => domainOf(address) !== domainOf(author)));
  return new Set(recipients).size >= COMMON_RECIPIENTS_MIN;
}

/** A stored text and where it has its phrases. */
interface StoredText extends CarriedText {
  readonly mail: CarriedMail;
  /** The first word of each phrase. */
  readonly places: ReadonlyMap<number, number>;
}

async function readStored(mail: CarriedMail): Promise<StoredText> {
  const read = await readCarriedText(mail.text, rest);
  const places = new Map<number, number>();
  for (const [at, phrase] of read.phrases.entries()) if (!places.has(phrase)) places.set(phrase, at);
  return { ...read, mail, places };
}

/** Word by word, with the exact texts: marks that are equal by chance, and borders of what is excused, end here. */
async function compareTexts(
  db: Database,
  question: CarriedQuestion,
  readings: readonly Reading[],
  evidence: Evidence,
  salt: number,
): Promise<CarriedSource[]> {
  const { organizationId, mailboxId, threadId } = question;
  const ofThread = threadId === null ? [] : await newestOfThread(db, mailboxId, threadId, THREAD_MESSAGES);
  const ids = [...evidence.candidates, ...evidence.witnesses, ...evidence.excusers].map(({ messageId }) => messageId);
  const texts: StoredText[] = [];
  for (const mail of await readCarriedMails(db, organizationId, [...new Set([...ids, ...ofThread])]))
    texts.push(await readStored(mail));
  const common = commonPhrases(texts, new Set(readings.flatMap(({ phrases }) => [...phrases])));
  const known = texts.filter(({ mail }) => evidence.isKnown(mail));
  const ours = texts.filter(({ mail }) => evidence.isOurs(mail));
  const sources: CarriedSource[] = [];
  for (const candidate of evidence.candidates) {
    const text = texts.find(({ mail }) => mail.messageId === candidate.messageId);
    if (text === undefined) continue;
    const excusing = [...known, ...ours.filter(({ mail }) => mail.messageId < candidate.messageId)];
    const isExcused = ({ mark }: TellingMark) => evidence.excuses(storedMark(mark, salt), candidate);
    const passages = new Map<string, CarriedPassage>();
    const facts = new Facts(text);
    for (const reading of readings) {
      facts.add(reading, isExcused);
      for (const [key, passage] of [
        ...passagesOf(reading, text, excusing, common),
        ...tellingOf(reading, text, isExcused),
      ])
        if (!passages.has(key)) passages.set(key, passage);
      await rest();
    }
    for (const [key, passage] of facts.telling()) if (!passages.has(key)) passages.set(key, passage);
    for (const [index, { name }] of question.files.entries())
      if (candidate.marks.has(fileMark(index)) && !evidence.excuses(fileMark(index), candidate))
        passages.set(`file ${index}`, { sent: name, source: name });
    if (passages.size > 0)
      sources.push({
        messageId: candidate.messageId,
        count: passages.size,
        passages: [...passages.values()].slice(0, CARRIED_PASSAGES_SHOWN_MAX),
      });
  }
  return withoutCopies(sources.sort((a, b) => b.count - a.count)).slice(0, CARRIED_SOURCES_MAX);
}

/** The same mail in several mailboxes is one source. */
function withoutCopies(sources: readonly CarriedSource[]): CarriedSource[] {
  const seen = new Set<string>();
  return sources.filter(({ passages }) => {
    const key = JSON.stringify(passages);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Phrases that several senders write, or several recipients got. @param sent those of the message: no other matters */
function commonPhrases(texts: readonly StoredText[], sent: ReadonlySet<number>): Set<number> {
  const saidBy = new Map<number, Said[]>();
  for (const { mail, places } of texts)
    for (const phrase of places.keys()) {
      if (!sent.has(phrase)) continue;
      const list = saidBy.get(phrase);
      if (list === undefined) saidBy.set(phrase, [mail]);
      else list.push(mail);
    }
  return new Set([...saidBy].filter(([, mails]) => mails.length > 1 && isCommon(mails)).map(([phrase]) => phrase));
}

function* passagesOf(
  { words, phrases }: Reading,
  source: StoredText,
  excusing: readonly StoredText[],
  common: ReadonlySet<number>,
): Generator<[string, CarriedPassage]> {
  const both = new Uint8Array(words.count);
  markCommon(phrases, source.places, both);
  if (!both.includes(1)) return;
  const excused = new Uint8Array(words.count);
  for (const { places } of excusing) markCommon(phrases, places, excused);
  markCommon(phrases, common, excused);
  for (const { from, to } of tellingPassages(words, both, excused)) {
    let at: number | undefined;
    for (let i = Math.max(0, from - PHRASE_WORDS + 1); at === undefined && i < to; i++)
      at = source.places.get(phrases[i] ?? -1);
    const start = at ?? 0;
    yield [
      `passage ${start}`,
      {
        sent: excerptOf(words, { from, to }),
        source: excerptOf(source.words, { from: start, to: Math.min(start + to - from, source.words.count) }),
      },
    ];
  }
}

function* tellingOf(
  { words, telling, codes }: Reading,
  source: StoredText,
  isExcused: (mark: TellingMark) => boolean,
): Generator<[string, CarriedPassage]> {
  const theirs = new Map(source.telling.map((mark) => [mark.mark, mark]));
  for (const mark of telling) {
    const other = theirs.get(mark.mark);
    if (other === undefined || isExcused(mark)) continue;
    yield [`telling ${other.at}`, { sent: around(words.text, mark), source: around(source.words.text, other) }];
  }
  const codeOf = new Map(source.mail.codes.map((code) => [codeMark(code), code]));
  for (const mark of codes) {
    const code = codeOf.get(mark.mark);
    if (code === undefined || isExcused(mark)) continue;
    yield [`code ${code}`, { sent: around(words.text, mark), source: code }];
  }
}

/** Facts of a text that a message says: two different ones are telling, of what is disguised one is. */
class Facts {
  readonly #source: StoredText;
  readonly #theirs: ReadonlyMap<number, TellingMark>;
  readonly #found = new Map<number, CarriedPassage>();
  #isDisguised = false;

  constructor(source: StoredText) {
    this.#source = source;
    this.#theirs = new Map(source.facts.map((fact) => [fact.mark, fact]));
  }

  add({ words, facts, form }: Reading, isExcused: (mark: TellingMark) => boolean): void {
    for (const fact of facts) {
      const other = this.#theirs.get(fact.mark);
      if (other === undefined || isExcused(fact)) continue;
      this.#found.set(fact.mark, { sent: around(words.text, fact), source: around(this.#source.words.text, other) });
      this.#isDisguised ||= form === 'said' || (form === 'encoded' && fact.characters >= DISGUISED_FACT_MIN_CHARACTERS);
    }
  }

  *telling(): Generator<[string, CarriedPassage]> {
    if (this.#found.size >= FACTS_MIN || this.#isDisguised)
      for (const [mark, passage] of this.#found) yield [`fact ${mark}`, passage];
  }
}
const FACTS_MIN = 2;
/** A shorter number is in a decoded link by chance. */
const DISGUISED_FACT_MIN_CHARACTERS = 6;

const AROUND_CHARACTERS = 40;
const TELLING_SHOWN_MAX_CHARACTERS = 200;

/** A place of a text with what is around it. */
const around = (text: string, { at, end }: TellingMark): string =>
  text
    .slice(Math.max(0, at - AROUND_CHARACTERS), Math.min(end, at + TELLING_SHOWN_MAX_CHARACTERS) + AROUND_CHARACTERS)
    .toWellFormed()
    .trim();
