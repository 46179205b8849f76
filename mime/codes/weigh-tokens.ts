/**
 * How surely each number of a mail is a one-time code.
 *
 * A number belongs to the nearest word that says what it is: the one before it in its sentence, else one behind it, else
 * for a number on a line or in a cell of its own the one above. A word belongs to one number only, so that in "code for
 * order 4711: 482913" each number has its own. Names of a one-time code are enough; "code" alone needs company that
 * fits and none that speaks of offers, bookings, parcels or meetings.
 */
import {
  companyOf,
  countsSomething,
  hasCompany,
  hintsNear,
  isOneOfMany,
  isQuantity,
  isReport,
  isStatistic,
  isYear,
  QUANTITY_LETTERS,
  spellsWord,
} from './company-of-number.ts';
import {
  endsWithName,
  labelAbove,
  labelBehind,
  labelBelow,
  NEAR_LETTERS,
  type Owner,
  type OwnersIn,
  ownersIn,
} from './label-of-number.ts';
import { languagesOf } from './mail-languages.ts';
import { breakBetween, isAlone, isHandedOver, type Label, lettersIn, type MailLine, type Place } from './mail-lines.ts';
import { formOf, type NumberToken } from './number-tokens.ts';
import { staleNumbers } from './stale-numbers.ts';

export interface Weighed {
  readonly code: string;
  readonly confidence: number;
  /** `stale`: the mail says that it does not work. `quoted`: it is in words of somebody else. */
  readonly mark?: 'stale' | 'quoted';
  /** It could be one of a list: alone on its line or in its cell, or in a row of numbers that are written like it. */
  readonly mayBeListed: boolean;
  /** How clearly the reader is asked to enter it, or it is called new. */
  readonly asked: number;
}

/** Every number that could be typed, with its confidence; 0 for what is something else. */
export function weighTokens(subject: MailLine | undefined, body: readonly MailLine[]): Weighed[] {
  const weighed: Weighed[] = [];
  let known: ReadonlySet<number> | undefined;
  const languages = () => {
    known ??= languagesOf(subject, body);
    return known;
  };
  if (subject !== undefined)
    weighed.push(...weighLine({ lines: [subject], index: 0, subject, languages }, ownersIn([subject])));
  const owned = ownersIn(body);
  for (let index = 0; index < body.length; index++)
    weighed.push(...weighLine({ lines: body, index, subject, languages }, owned));
  return withSuccessor(weighed, subject, body);
}

/** Where codes no longer work and one more is written as they are, that one is in their place. */
function withSuccessor(
  weighed: readonly Weighed[],
  subject: MailLine | undefined,
  body: readonly MailLine[],
): Weighed[] {
  const stale = new Set(weighed.filter(({ mark }) => mark === 'stale').map(({ code }) => code));
  if (stale.size === 0) return [...weighed];
  const forms = new Set([...stale].map(formOf));
  const others = new Set(weighed.map(({ code }) => code).filter((code) => !stale.has(code) && forms.has(formOf(code))));
  const [only] = others;
  const kinds = new Set(
    [...(subject === undefined ? [] : [subject]), ...body].flatMap(({ labels }) => labels.map(({ kind }) => kind)),
  );
  // "You asked for another code, 774120 no longer works. Use this one: 350862".
  const askedAsCode =
    kinds.has('possible') &&
    !kinds.has('otherCode') &&
    weighed.some(({ code, asked, mark }) => code === only && asked > 1 && mark === undefined);
  const named = kinds.has('certain') || askedAsCode;
  if (only === undefined || others.size > 1 || !named) return [...weighed];
  return [...weighed, { code: only, confidence: SUCCESSOR_CONFIDENCE, mayBeListed: false, asked: 0 }];
}
const SUCCESSOR_CONFIDENCE = 0.75;

function weighLine(place: Place, owned: OwnersIn): Weighed[] {
  const line = place.lines[place.index];
  if (line === undefined || line.tokens.every(({ shape }) => shape === 'other')) return [];
  const owners = owned(place.index);
  if (owners === undefined) return [];
  const weighed: Weighed[] = [];
  const stale = staleNumbers(line, place.lines[place.index - 1]);
  line.tokens.forEach((token, at) => {
    if (token.shape === 'other') return;
    const confidence = weigh(place, owned, line, token, owners.owners[at] ?? 'none');
    weighed.push({
      code: token.code,
      confidence,
      mayBeListed: mayBeListed(line, token),
      asked: askedFor(place, line, token),
      ...(isQuoted(line, token) ? { mark: 'quoted' } : {}),
    });
  });
  for (const code of stale) weighed.push({ code, confidence: 0, mark: 'stale', mayBeListed: false, asked: 0 });
  return weighed;
}

function mayBeListed(line: MailLine, token: NumberToken): boolean {
  const form = formOf(token.code);
  return isAlone(line, token) || line.tokens.filter(({ code }) => formOf(code) === form).length >= ROW_MIN;
}
const ROW_MIN = 3;

/**
 * How clearly: 3 by its clause, 2 by its sentence or by the line above a number alone, 1 where the sentence says what the
 * code is for, 0 where nothing says so.
 */
function askedFor({ lines, index }: Place, line: MailLine, token: NumberToken): number {
  const [begin, end] = sentenceOf(line, token);
  const asks = (from: number, to: number): boolean =>
    line.hints.enter.some((at) => at >= from && at < to && !isDenied(line.text, at)) ||
    NEW.test(line.text.slice(from, to));
  const before = line.text.slice(begin, token.from);
  const comma = Math.max(before.lastIndexOf(','), before.lastIndexOf('、'));
  const behind = line.text.slice(token.to, end).search(/[,、]/u);
  if (asks(begin + comma + 1, behind === -1 ? end : token.to + behind)) return 3;
  if (asks(begin, end)) return 2;
  const above = lines[index - 1];
  if (isAlone(line, token) && above !== undefined && (above.hints.enter.length > 0 || NEW.test(above.text))) return 2;
  return line.hints.purpose.some((at) => at >= begin && at < end) ? 1 : 0;
}

const sentenceOf = (line: MailLine, { from, to }: NumberToken): readonly [number, number] => [
  (line.breaks.findLast((at) => at < from) ?? -1) + 1,
  line.breaks.find((at) => at >= to) ?? line.text.length,
];

/** "Cannot be used": a word of negation right in front. */
const isDenied = (text: string, at: number): boolean =>
  DENIAL.test(/[^.!?;:。]*$/u.exec(text.slice(Math.max(0, at - DENIAL_CHARACTERS), at))?.[0] ?? '');
const DENIAL_CHARACTERS = 16;
const DENIAL =
  /(?<!\p{L})(?:not|no|never|nicht|nie|kein\p{L}*|ne|pas|non|não|niet|geen|inte|ikke|ei|eikä|nelze|nie|не|нельзя|değil|δεν|nem|không|tidak)(?!\p{L})|n't|不|无法|無法|안 |못 |لا |לא |नहीं|ไม่/iu;

const IS_NOT =
  /(?<!\p{L})(?:(?:is|was|are) (?:not|no)|isn't|wasn't|(?:ist|war) (?:nicht|kein\p{L}*)|n'est pas|no es|no era|non è|não é|is (?:niet|geen)|nie jest|är inte|er ikke|ei ole|není|nie je|не|değil|δεν είναι|nu este|nem)(?!\p{L})|ではな|じゃな|不是|아니|ليس|אינו|नहीं|không phải|bukan|ไม่ใช่/iu;

/** "New" in the languages whose mails are read. */
const NEW =
  /(?<!\p{L})(?:new|fresh|neue[rnms]?|nouve(?:au|lle|l)|nuev[oa]|nuov[oa]|nov[oaýé]|nieuwe?|now[yae]|ny|nytt|nye|nya|uu(?:si|den)|nový|yeni|нов\p{L}{1,3}|νέ[οαη]\p{L}?|nou[ăl]?|noul|noua|új|baru|mới|जदید|नया|नए|نیا|جديد\p{L}?|جدید|חדש\p{L}?)(?!\p{L})|新|새|ใหม่/iu;

/** "Код для входа 482913": where nothing stands for "is", the number follows what it is for. */
const endsWithPurpose = ({ text, hints }: MailLine, { to }: Label, { from }: NumberToken): boolean =>
  !text.slice(to, from).includes('(') &&
  hints.purpose.some((at) => at >= to && at < from && lettersIn(text.slice(at, from)) <= PURPOSE_LETTERS);
const PURPOSE_LETTERS = 12;

/** "Enter the code HBDK". */
function isHanded(line: MailLine, label: Label, token: NumberToken): boolean {
  if (label.to + 1 !== token.from) return false;
  return line.hints.enter.some((at) => at < label.from && lettersIn(line.text.slice(at, label.from)) <= HANDED_LETTERS);
}
const HANDED_LETTERS = 14;

/** "Such as 482913". */
const EXAMPLE =
  /(?:e\. ?g\.|for example|for instance|such as|z\. ?B\.|zum Beispiel|p\. ?ex\.|par exemple|por ejemplo|por exemplo|ad esempio|bijv\.|na przykład|np\.|t\. ?ex\.|f\. ?eks\.|например|例如|例：|예:|expected|expects|erwartet|attendu|esperado|atteso)[^\p{L}\p{N}]*$/iu;

/** Somebody else's words: "your code is 482913, do not share it". A number alone in quotation marks is set apart. */
function isQuoted({ text }: MailLine, { from, to }: NumberToken): boolean {
  for (const [opening, closing] of QUOTES) {
    const begin = text.lastIndexOf(opening, from - 1);
    if (begin === -1 || from === 0) continue;
    const inside = text.slice(begin + 1, from);
    if (inside.includes(closing) || (opening === closing && text.slice(0, begin).split(opening).length % 2 === 0))
      continue;
    const end = text.indexOf(closing, to);
    if (end === -1) continue;
    if (lettersIn(inside) + lettersIn(text.slice(to, end)) >= QUOTED_LETTERS_MIN) return true;
  }
  for (const match of text.matchAll(IN_APOSTROPHES))
    if (match.index < from && match.index + match[0].length > to && lettersIn(match[0]) >= QUOTED_LETTERS_MIN)
      return true;
  return false;
}
const QUOTES = [
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['‘', '’'],
] as const;
const QUOTED_LETTERS_MIN = 6;
/** Apostrophes inside words are none. */
const IN_APOSTROPHES = /(?<![\p{L}\p{N}])'[^']{6,200}'(?![\p{L}\p{N}])/gu;

const IN_ORDER = /^(?:1234(?:5(?:6(?:7(?:89?)?)?)?)?|(\d)\1{3,})$/;

/**
 * "The code 482913 went to the wrong person": the sentence tells of a code, and goes on without a word that it is the
 * reader's, that it is to be entered, how long it is valid or what it is for.
 */
function isMentioned(line: MailLine, token: NumberToken, owner: Label): boolean {
  if (!/^ ?\(?$/.test(line.text.slice(owner.to, token.from))) return false;
  const [begin, end] = sentenceOf(line, token);
  const tail = line.text.slice(token.to, end);
  if (/^[)\]"'”» ]*[,.:：–—-]/u.test(tail) || FOR.test(tail) || lettersIn(tail) < TOLD_LETTERS_MIN) return false;
  // A row of fields.
  if (line.labels.some(({ from }) => from >= token.to && from <= token.to + 2)) return false;
  const { enter, secrecy, yours, notMe, purpose } = line.hints;
  const said = [...enter.filter((at) => !isDenied(line.text, at)), ...secrecy, ...yours, ...notMe, ...purpose];
  return !said.some((at) => at >= begin && at < end && !(at >= owner.from && at < owner.to));
}
const TOLD_LETTERS_MIN = 6;
const FOR =
  /^ (?:for|to|für|zum|zur|pour|para|per|por|voor|för|till|til|do|dla|для|pro|pre|za|için|για|pentru)(?!\p{L})/iu;

/** "Why is my code 829104 rejected?": a question of somebody else, unless it speaks of the reader's code. */
function isAskedAbout({ breaks, text, labels, hints }: MailLine, { from, to }: NumberToken): boolean {
  const end = breaks.find((at) => at >= to) ?? -1;
  if (!/[?؟]/u.test(text.charAt(end))) return false;
  const begin = breaks.findLast((at) => at < from) ?? -1;
  return (
    labels.some((label) => label.from > begin && label.to <= end) && !hints.yours.some((at) => at > begin && at < end)
  );
}

function weigh(place: Place, owned: OwnersIn, line: MailLine, token: NumberToken, owner: Owner): number {
  if (EXAMPLE.test(line.text.slice(Math.max(0, token.from - 24), token.from)) || isQuoted(line, token)) return 0;
  if (isAskedAbout(line, token)) return 0.2;
  // "12345678 instead of 123456": any code is meant.
  if (line.tokens.filter(({ code }) => IN_ORDER.test(code)).length > 1 && IN_ORDER.test(token.code)) return 0.2;
  if (owner !== 'none') {
    if (owner.kind === 'otherCode' || owner.kind === 'otherNumber') return 0;
    if (isMentioned(line, token, owner)) return 0.4;
    const gap = line.text.slice(owner.to, token.from);
    const letters = lettersIn(gap);
    if (
      letters > 0 &&
      (isStatistic(place, gap) || isYear(token, gap) || !(isHandedOver(gap) || endsWithPurpose(line, owner, token)))
    )
      return 0.4;
    if (isOneOfMany(place) || isReport(place, owner.kind === 'certain')) return 0.4;
    // "The code in request 4711 before 2027": the first number is the one it is about.
    const between = line.tokens.findLast(({ from }) => from >= owner.to && from < token.from);
    const handed = between?.shape === 'other' && /[:：]\s*$/u.test(gap);
    if (
      between !== undefined &&
      !handed &&
      owner.kind === 'possible' &&
      lettersIn(line.text.slice(between.to, token.from)) > 4
    )
      return 0.2;
    // "The code 4471 in module 12 fails": nothing says what it is for.
    if (owner.kind === 'possible' && gap.trim() === '' && !isAlone(line, token) && !hasCompany(place)) return 0.4;
    // "Codes, says a survey of 12500 engineers": the number counts something in another clause.
    if (letters > QUANTITY_LETTERS && (owner.kind === 'possible' || /,/.test(gap)) && countsSomething(line, token))
      return 0.4;
    // "Your code for free returns: 44820".
    if (owner.kind === 'possible' && isForSomething(place, line, token, gap)) return 0.35;
    // "The code is the same as ever, 8402": said in passing.
    if (owner.kind === 'possible' && letters > NEAR_LETTERS && /,(?!\d)/.test(gap)) return 0.35;
    const sure = FOR_A_THING.test(gap) ? 0.6 : letters <= NEAR_LETTERS ? 0.97 : 0.88;
    return bounded(
      owner.kind,
      token,
      sure,
      place,
      letters <= NEAR_LETTERS,
      isAlone(line, token) || /[::=]\W*$/u.test(gap) || isHanded(line, owner, token),
    );
  }
  const right = labelBehind(line, token);
  if (right !== undefined) {
    if (right.kind === 'otherCode' || right.kind === 'otherNumber') return 0;
    const between = line.text.slice(token.to, right.from);
    const heading = /[::]/u.test(between);
    // "551204: code for your account"
    const headsName = token.from === 0 && lettersIn(between) === 0 && FOR.test(line.text.slice(right.to));
    // "482913 is not a random verification code".
    if (isYear(token, between) || IS_NOT.test(between)) return 0.2;
    // "Alert 20441: SMS code delivery is slow": the number heads a line that goes on.
    if (
      isQuantity(line, token, right) ||
      (heading && /^[^.!?]*\p{L}{3}/u.test(line.text.slice(right.to)) && !headsName)
    )
      return 0.2;
    if (isReport(place, right.kind === 'certain')) return 0.4;
    return bounded(right.kind, token, heading ? 0.6 : 0.93, place, true, false);
  }
  // The last line of a mail names its sender.
  if (COPYRIGHT.test(line.text)) return 0.05;
  const alone = isAlone(line, token);
  const leads = !alone && !/[\p{L}\p{N}]/u.test(line.text.slice(0, token.from)) && endsWithName(place);
  if (alone || leads) {
    const above = labelAbove(place, owned, token);
    if (above !== undefined) {
      if (above.kind === 'otherCode' || above.kind === 'otherNumber') return 0;
      return bounded(above.kind, token, 0.96 - 0.02 * above.distance, place, true, true);
    }
    const below = alone ? labelBelow(place) : undefined;
    if (below !== undefined) return bounded(below, token, 0.85, place, true, true);
    const named = place.subject?.labels.some(({ kind }) => kind === 'certain') === true;
    if (named) return bounded('certain', token, 0.85, place, true, true);
    if (place.subject?.labels.some(({ kind }) => kind === 'possible') === true)
      return bounded('possible', token, 0.85, place, true, true);
    if (alone && standsOut(place, token)) return STANDS_OUT_CONFIDENCE * shapeFactor(token, 'possible', true);
    return 0.1;
  }
  if (isTypedInSentence(place, line, token)) return STANDS_OUT_CONFIDENCE;
  if (headsSubject(place, line, token)) return bounded('possible', token, 0.7, place, true, false);
  // "Enter 482913 to confirm your address."
  if (mayBeEntered(token) && (inOneSentence(line, token) || isEntered(place, line, token)))
    return bounded('possible', token, leadsTo(line, token) ? 0.8 : 0.7, place, true, false);
  return 0.05;
}

const COPYRIGHT = /©|\(c\) ?(?:19|20)\d\d|copyright|all rights reserved/iu;

/** "Verification code for wire transfer 88214": the number may be that of the thing. */
const FOR_A_THING = /^ (?:for|für|pour|para|per|voor|for|för|do|dla|для|pro|til|na) [^:=：]*[^:=：\s][ \t]*$/iu;
/** The word is followed by what it is for, in small letters as no name is, and nothing of it is signing in. */
function isForSomething(place: Place, { hints }: MailLine, { from }: NumberToken, gap: string): boolean {
  if (!/^ (?:for|für|pour|para|per|voor) \p{Ll}[^.]*[:：]\s*$/u.test(gap) || hints.purpose.some((at) => at < from))
    return false;
  return hintsNear(place).secrecy === 0 && (place.subject?.hints.purpose.length ?? 0) === 0;
}
const mayBeEntered = ({ shape, code }: NumberToken): boolean =>
  shape === 'digits' || (shape === 'mixed' && !spellsWord(code));

/** "Enter 482913 on the form", in a mail whose subject or next sentence says what for. */
function isEntered({ subject }: Place, line: MailLine, token: NumberToken): boolean {
  if (token.code.length < 4 || token.code.length > 8) return false;
  const entered = line.hints.enter.some(
    (at) =>
      !breakBetween(line, Math.min(at, token.from), Math.max(at, token.from)) &&
      lettersIn(line.text.slice(Math.min(at, token.to), Math.max(at, token.from))) <= ENTER_LETTERS,
  );
  const behind = line.labels.find(
    ({ from, kind }) =>
      from >= token.to && (kind === 'certain' || kind === 'possible') && !breakBetween(line, token.to, from),
  );
  return entered && (behind !== undefined || (subject?.hints.purpose.length ?? 0) > 0);
}
const ENTER_LETTERS = 16;

/**
 * A number that nothing names, alone on its line or in its cell: what surrounds it says that it is to be typed, or for
 * how long, and nothing says that it belongs to something else.
 */
function standsOut(place: Place, token: NumberToken): boolean {
  const { lines, index, subject } = place;
  const [line, before, below] = [lines[index], lines[index - 1], lines[index + 1]?.text ?? ''];
  if (line === undefined || !isOfTypedLength(token) || isReport(place, false)) return false;
  // "Points 14820": the cell beside it names it, by whatever word. "88210477#" is dialled.
  if (/[\p{L}#]/u.test(line.text.slice(0, token.from) + line.text.slice(token.to))) return false;
  const near = hintsNear(place);
  const purpose = near.purpose + (subject?.hints.purpose.length ?? 0) > 0;
  const above = before?.text.slice((before.breaks.findLast((at) => at < before.text.length - 1) ?? -1) + 1) ?? '';
  const aboveFrom = (before?.text.length ?? 0) - above.length;
  const asks = [...(before?.hints.enter ?? []), ...(before?.hints.purpose ?? [])].some((at) => at >= aboveFrom);
  // "Your place in the queue", "Call number:" name it, by whatever words.
  const isHeaded =
    !asks &&
    (/[\p{L}\p{M}\p{N})]$/u.test(above) || (/[:：]$/u.test(above) && above.trim().split(' ').length <= NAME_WORDS_MAX));
  const isLed = !isHeaded && /[:：]$/u.test(above);
  // Behind the greeting: all that the mail has to say.
  const isFirst = /[,،，、]$/u.test(above);
  if (!purpose && near.enter + near.notMe === 0 && !isLed && !isFirst) return false;
  // "12480 / steps" counts something.
  if (/^\p{Ll}/u.test(below) && (isHeaded || /[.!?,]$/u.test(above))) return false;
  const enterBelow = (lines[index + 1]?.hints.enter.length ?? 0) > 0;
  const following = lines.slice(index + 1, index + 1 + VALIDITY_LINES).map(({ text }) => text);
  const isShort = following.some((text) => MINUTES.test(text));
  const validity = near.secrecy > 0 || following.some((text) => CLOCK.test(text)) ? 1 : 0;
  const evidence =
    (purpose ? 1 : 0) +
    (near.enter > 0 ? 1 : 0) +
    (near.notMe > 0 ? 1 : 0) +
    (isShort ? 2 : validity) +
    (isLed || isFirst ? 1 : 0) +
    // In boxes or groups, as it is read aloud.
    (token.to - token.from > token.code.length ? 1 : 0) +
    (isOnlyNumber(place, token) ? 1 : 0);
  const against =
    (isHeaded ? (enterBelow ? 1 : 2) : asks || isLed || isFirst || enterBelow ? 0 : 2) +
    (near.money || near.percent || near.setting > 0 ? 2 : 0);
  return evidence - against >= STANDS_OUT_MIN;
}
/** A field is named by so few words, a sentence has more. */
const NAME_WORDS_MAX = 3;
const STANDS_OUT_MIN = 3;
const STANDS_OUT_CONFIDENCE = 0.6;
const VALIDITY_LINES = 3;
const YEAR = /^(?:19|20)\d\d$/;
const isOfTypedLength = (token: NumberToken): boolean =>
  mayBeEntered(token) && /^(?:[^-]-?){4,8}$/.test(token.code) && !YEAR.test(token.code);
const CLOCK = /(?<!\d)\d{1,2}[:.]\d\d(?![\d.])/;
/** The unit of the time for which codes are valid and few other things. */
const MINUTES =
  /(?<!\p{L})(?:min|minut\p{L}*|minuu\p{L}+|perc(?:ig|en|et|cel)?|dakika\p{L}*|phút|menit|minit|λεπτ\p{L}+|минут\p{L}*|хвилин\p{L}*|דקות|دقائق|دقيقة|دقیقه|मिनट\p{L}*)(?!\p{L})|[\d一二三四五六七八九十] ?(?:分|분)|นาที/iu;

/** "Enter 5527 on the screen. Do not tell it to anybody." */
function isTypedInSentence(place: Place, line: MailLine, token: NumberToken): boolean {
  const isAsked = line.hints.enter.some(
    (at) =>
      at < token.from &&
      /^\p{L}+(?: \p{L}+){0,3} ?[:：]? ?$/u.test(line.text.slice(at, token.from)) &&
      !isDenied(line.text, at),
  );
  if (!isAsked || !isOfTypedLength(token)) return false;
  const { secrecy, notMe, setting, percent } = hintsNear(place);
  return (
    secrecy + notMe > 0 &&
    setting === 0 &&
    !percent &&
    place.lines.every(({ tokens }) => tokens.every(({ shape, code }) => shape !== token.shape || code === token.code))
  );
}

/** "664190: your Halyard login" */
const headsSubject = ({ subject }: Place, line: MailLine, token: NumberToken): boolean =>
  line === subject &&
  line.tokens.length === 1 &&
  token.from === 0 &&
  token.shape === 'digits' &&
  !YEAR.test(token.code) &&
  line.hints.purpose.length > 0 &&
  /^ ?[-–—:|] ?\P{N}{3,40}$/u.test(line.text.slice(token.to));

/** No other number of the mail could be typed. */
const isOnlyNumber = ({ lines }: Place, { code }: NumberToken): boolean =>
  lines.every(({ tokens }) => tokens.every((other) => other.shape === 'other' || other.code === code));

/** The verb of entering stands before the number, or a colon does: the number is what it is about. */
const leadsTo = (line: MailLine, token: NumberToken): boolean =>
  /[::]\W*$/u.test(line.text.slice(0, token.from)) ||
  line.hints.enter.some((at) => at < token.from && !breakBetween(line, at, token.from));

function inOneSentence(line: MailLine, token: NumberToken): boolean {
  const near = (places: readonly number[]) =>
    places.some((at) => !breakBetween(line, Math.min(at, token.from), Math.max(at, token.from)));
  return near(line.hints.enter) && near(line.hints.purpose) && token.code.length >= 4 && token.code.length <= 8;
}

function bounded(
  kind: 'certain' | 'possible',
  token: NumberToken,
  sure: number,
  place: Place,
  direct: boolean,
  set: boolean,
): number {
  const shape = shapeFactor(token, kind, set);
  if (shape === 0) return 0.1;
  const company = companyOf(place, token);
  if (kind === 'certain') return Math.max(0, sure * shape - (company < -0.5 ? 0.3 : 0));
  if (isBesideOtherCode(place, token)) return 0.4;
  const base = direct ? 0.45 : 0.4;
  return (
    Math.min(sure, Math.max(0, base - (token.shape === 'digits' ? 0 : spellsWord(token.code) ? 0.3 : 0.05) + company)) *
    shape
  );
}

/** "Confirmation number 3187.440.962, PIN 6028": the code of a booking stands in front of it in its sentence. */
function isBesideOtherCode({ lines, index }: Place, { from }: NumberToken): boolean {
  const line = lines[index];
  return (
    line !== undefined &&
    line.labels.some((label) => label.kind === 'otherCode' && label.to < from && !breakBetween(line, label.to, from))
  );
}

/** @param set whether it is set apart: on its own line, or behind a colon */
function shapeFactor({ shape, code }: NumberToken, kind: 'certain' | 'possible', set: boolean): number {
  switch (shape) {
    case 'digits':
      if (/^(?:19|20)\d\d$/.test(code)) return 0.9;
      // "000000" stands for any.
      if (/^(\d)\1{4,}$/.test(code) || (!set && /^123456?$/.test(code))) return 0.4;
      return code.length > 8 ? 0.7 : code.length < 4 ? 0 : 1;
    case 'spaced':
      return set ? (kind === 'certain' ? 0.95 : 0.85) : 0;
    case 'mixed':
      return code.replaceAll('-', '').length > 10 ? 0.8 : 0.98;
    case 'letters':
      return set && (kind === 'certain' || code.includes('-')) ? 0.85 : set ? 0.6 : 0;
    case 'words':
      return set && kind === 'certain' ? 0.8 : 0;
    case 'short':
    case 'other':
      return 0;
  }
}
