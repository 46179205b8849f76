/** What is said around a number: what it is for and how to treat it, or that it is about an offer, a booking, a parcel. */

import type { Languages } from '#mime/words/word-lists.ts';
import { breakBetween, type Label, lettersIn, type MailLine, type Place } from './mail-lines.ts';
import { type NumberToken, VOWELLESS } from './number-tokens.ts';

/** What is said on the number's line, the lines above and the ones below. */
export function hintsNear(place: Place) {
  const { lines, index } = place;
  const [first, last] = [reach(lines, index, -1), reach(lines, index, 1)];
  const near = { purpose: 0, secrecy: 0, enter: 0, notMe: 0, setting: 0, percent: false, money: false };
  for (let at = first; at <= last; at++) {
    const line = lines[at];
    if (line === undefined) break;
    near.purpose += line.hints.purpose.length;
    near.secrecy += line.hints.secrecy.length;
    near.enter += line.hints.enter.length;
    near.notMe += line.hints.notMe.length;
    if (at <= index + 2) near.setting += settingsIn(place, line);
    near.percent ||= line.percent;
    near.money ||= line.money;
  }
  return near;
}

/** The line three lines away; a list of fields, such as the payment a code is for, counts as one. */
function reach(lines: readonly MailLine[], index: number, step: 1 | -1): number {
  let at = index;
  let inFields = false;
  for (let left = NEAR_LINES; Math.abs(at - index) < FIELDS_MAX; ) {
    const line = lines[at + step];
    if (line === undefined) break;
    const isField = step === 1 && FIELD.test(line.text);
    if (!isField || !inFields) left--;
    if (left < 0) break;
    inFields = isField;
    at += step;
  }
  return at;
}
const NEAR_LINES = 3;
const FIELDS_MAX = 9;
const FIELD = /^[^:：\t.!?]{2,40}[:：\t].{1,60}(?<![.!?])$/u;

/** Words of an offer, a booking, a delivery or a meeting, in a language the mail is written in. */
const settingsIn = (place: Place, { settings }: MailLine): number => writtenIn(place, settings);

function writtenIn({ languages }: Place, words: readonly Languages[]): number {
  if (words.length === 0) return 0;
  const written = languages();
  return words.filter((of) => of.some((language) => written.has(language))).length;
}

/**
 * A ticket, a build, a table of figures or a newsletter that names codes: by its subject or by more than one word of
 * such mails, where nothing near says to enter the number, to keep it or that it may not have been asked for.
 */
export function isReport(place: Place, certain: boolean): boolean {
  const { subject, lines } = place;
  const { purpose, secrecy, enter, notMe } = hintsNear(place);
  // "Almost subscribed! Your verification code is 482913." So it may be quoted in a report that has more such words.
  const isOfReader = (lines[place.index]?.hints.yours.length ?? 0) > 0 && (certain || purpose > 0);
  const enough =
    secrecy + enter + notMe > 0
      ? REPORT_WORDS_OF_ASKED_MIN
      : isOfReader
        ? REPORT_WORDS_OF_QUOTED_MIN
        : REPORT_WORDS_MIN;
  let words = subject !== undefined && writtenIn(place, subject.reports) > 0 ? (certain ? 1 : REPORT_WORDS_MIN) : 0;
  if (subject !== undefined && PROGRAM.test(subject.text)) words++;
  for (const line of lines) {
    if (words >= enough) break;
    words += writtenIn(place, line.reports) + (PROGRAM.test(line.text) ? 1 : 0);
  }
  return words >= enough;
}
/** What programs write: names of errors, places in their source, frames of a stack, results of tests, lines of a chat. */
const PROGRAM =
  /\b[A-Z][A-Za-z]{2,40}(?:Error|Exception)\b|[\w-]\.(?:ts|tsx|js|jsx|py|rb|go|java|php|cs|rs|kt|swift|cpp|vue|html|log)(?::\d+|\b(?! \p{Lu}))|^\s*at \S+ ?\(|^\s*[✓✔✗✘✕]|\b(?:GET|POST|PUT|PATCH|DELETE) \/|\bHTTP\/\d|\b[45]\d\d (?:Bad|Unauthorized|Forbidden|Internal|Unprocessable)|^ ?[-+] .*[;{}()=]|\b(?:const|let|var|def|return|assert|expect)\b.*[=(]|\[[A-Z]{2,10}-\d{1,6}\]|\(#\d+\)|\d files? changed|^\p{Lu}[\p{L}.' -]{1,30} +\d{1,2}:\d\d(?: ?[AP]M)?$/mu;
const REPORT_WORDS_MIN = 2;
const REPORT_WORDS_OF_QUOTED_MIN = 3;
const REPORT_WORDS_OF_ASKED_MIN = 4;

/** Whether the subject names a code, or something near says what it is for or how to treat it. */
export function hasCompany(place: Place): boolean {
  const { purpose, secrecy, enter, notMe } = hintsNear(place);
  const named = place.subject?.labels.some(({ kind }) => kind === 'certain' || kind === 'possible') === true;
  return named || (place.subject?.hints.purpose.length ?? 0) > 0 || purpose + secrecy + enter + notMe > 0;
}

/** "Your code" on its line or the one above, or a subject that names a code. */
const isOfReader = ({ lines, index, subject }: Place, { shape }: NumberToken): boolean =>
  (lines[index]?.hints.yours.length ?? 0) > 0 ||
  (lines[index - 1]?.hints.yours.length ?? 0) > 0 ||
  (shape === 'digits' && subject?.labels.some(({ kind }) => kind === 'possible') === true);

/** For and against a code that is only called "code". */
export function companyOf(place: Place, token: NumberToken): number {
  const near = hintsNear(place);
  const { subject, lines } = place;
  const own = lines[place.index];
  const purposeInSubject = (subject?.hints.purpose.length ?? 0) > 0;
  const named = subject?.labels.some(({ kind }) => kind === 'certain') === true;
  const inFavour =
    (near.purpose > 0 ? 0.25 : 0) +
    (near.secrecy > 0 ? 0.15 : 0) +
    (near.secrecy > 2 ? 0.1 : 0) +
    (near.notMe > 0 ? 0.15 : 0) +
    (named ? 0.35 : purposeInSubject ? 0.2 : 0) +
    (isOfReader(place, token) ? 0.15 : 0) +
    ((own?.hints.enter.length ?? 0) > 0 ? 0.1 : 0);
  const settings = lines.reduce((sum, line) => sum + settingsIn(place, line), 0);
  const against =
    // Who pays enters a code, too.
    (near.money && !(near.enter > 0 && (near.secrecy > 0 || purposeInSubject)) ? 0.25 : 0) +
    // Receipts of cards name a code, too, and nobody is to do anything with it.
    (near.money && near.secrecy + near.enter === 0 && !named ? (purposeInSubject ? 0.1 : 0.2) : 0) +
    (near.setting > 0 ? 0.3 : 0) +
    (near.setting > 1 ? 0.2 : 0) +
    (settings > 2 ? 0.2 : 0) +
    (subject !== undefined && settingsIn(place, subject) > 0 ? 0.3 : 0);
  // Who pays reads of a shop, too, and to enter the code and keep it to oneself.
  const ownPurpose = own !== undefined && own.hints.purpose.length > 0;
  const codeInSubject = subject?.labels.some(({ kind }) => kind === 'certain' || kind === 'possible') === true;
  const asked =
    (token.shape === 'digits' || (token.shape === 'mixed' && token.code.includes('-'))) &&
    near.purpose > 0 &&
    ((near.enter > 0 && (near.secrecy > 0 || (ownPurpose && own.hints.enter.length > 0))) ||
      (codeInSubject && purposeInSubject && ownPurpose) ||
      (token.shape === 'digits' && near.setting < 2 && ownPurpose && (purposeInSubject || own.hints.yours.length > 0)));
  const share = near.percent ? 0.4 : 0;
  return inFavour - (asked ? (against + share) * 0.4 : against + share);
}

/** A word follows, and the rest of the sentence says nothing of entering it or keeping it. */
export function countsSomething(line: MailLine, token: NumberToken): boolean {
  const { enter, secrecy, purpose, notMe } = line.hints;
  return (
    /^ \p{L}/u.test(line.text.slice(token.to)) &&
    ![...enter, ...secrecy, ...purpose, ...notMe].some((at) => at >= token.to && !breakBetween(line, token.to, at))
  );
}

/**
 * "In spring 48210 companies dropped codes": a noun stands between, and nobody is to enter anything. So it is where the
 * number stands right in front of its word inside a sentence: "found 10233 verification codes".
 */
export function isQuantity(line: MailLine, token: NumberToken, label: Label): boolean {
  const sentence = line.breaks.findLast((at) => at < token.from) ?? -1;
  const gap = line.text.slice(token.to, label.from);
  return (
    (lettersIn(gap) > QUANTITY_LETTERS || /^ ?$/.test(gap)) &&
    !COPULA.test(gap) &&
    lettersIn(line.text.slice(sentence + 1, token.from)) > 0 &&
    !line.hints.enter.some((at) => !breakBetween(line, Math.min(at, token.from), Math.max(at, token.from)))
  );
}
export const QUANTITY_LETTERS = 8;

/** "OTP mails sent 20417": words between that hand nothing over, and nobody is to do anything. */
export function isStatistic(place: Place, gap: string): boolean {
  if (!/^ [^\s]/.test(gap) || (HANDS_OVER.test(gap) && !HEADED.test(gap))) return false;
  const { secrecy, enter, notMe } = hintsNear(place);
  const named = place.subject?.labels.some(({ kind }) => kind === 'certain' || kind === 'possible') === true;
  return !named && secrecy + enter + notMe === 0;
}
/** "One-time code requests: 20417". */
const HEADED =
  /^ (?!(?:is|are|below|here|now|today|ist|lautet|hier|est|ici|es|è|jest|to|är|er|on|este)(?!\p{L}))\p{Ll}{4,}(?: \p{Ll}{3,}){0,2}[::] ?$/u;

/** "How to build OTP login in 2026". */
export const isYear = ({ code }: NumberToken, gap: string): boolean =>
  /^(?:19|20)\d\d$/.test(code) && !HANDS_OVER.test(gap);

/** One line of a list of figures, in a mail that says of none what it is for: "Entered code: 6114". */
export function isOneOfMany(place: Place): boolean {
  const { lines, index, subject } = place;
  const figures = lines.slice(Math.max(0, index - 3), index + 4).filter(({ text }) => FIGURE.test(text));
  if (figures.length < FIGURES_MIN) return false;
  const asks =
    subject?.labels.some(({ kind }) => kind !== 'otherNumber') === true || (subject?.hints.purpose.length ?? 0) > 0;
  const { secrecy, enter, notMe } = hintsNear(place);
  return !asks && secrecy + enter + notMe === 0;
}
const FIGURE = /^[^:：\t\d]{2,40}[:：\t] ?\d[\d.,]*$/u;
const FIGURES_MIN = 3;

/** Vouchers are made of words: SUMMER20. */
export const spellsWord = (code: string): boolean =>
  !VOWELLESS.test(code) && /[A-Za-z]{4}|^[A-Za-z]{3,}\d{1,3}$|^\d{1,3}[A-Za-z]{3,}$/.test(code);

const HANDS_OVER =
  /[-–—:：=]|(?<!\p{L})(?:is|are|ist|lautet|lauten|est|es|è|é|jest|to|je|är|er|on|este|sunt|là|adalah|ialah|είναι|это|є|це)(?!\p{L})|[是为為はが은는이가]|คือ|هو|हे|है/iu;

/** What says that the number is what follows. */
const COPULA =
  /^ ?(?:[-–—:=]|(?:is|are|ist|lautet|est|es|è|é|jest|to|je|är|er|on|este|sunt|là|adalah|ini|dir|είναι|это|є|це)(?!\p{L}))/iu;
