/**
 * Which word says what a number is: the nearest one before it in its sentence, else one behind it, else for a number on
 * a line or in a cell of its own the one above or below. A word in front belongs to one number only.
 */

import { breakBetween, isAlone, isHandedOver, type Label, lettersIn, type MailLine, type Place } from './mail-lines.ts';
import type { NumberToken } from './number-tokens.ts';

/** Lines above a number of its own line in which its name is looked for. */
const LINES_ABOVE = 4;
const LINES_BELOW = 2;
/** Letters between a number and the word for it. */
export const NEAR_LETTERS = 20;
const FAR_LETTERS = 90;
const OTHER_NUMBER_LETTERS = 10;
const OTHER_CODE_LETTERS = 40;
const RIGHT_LETTERS = 40;

export type Owner = Label | 'none';

interface LineOwners {
  /** Of each token of the line. */
  readonly owners: readonly Owner[];
  readonly free: readonly Label[];
}

/** Owners of a line by its index, found when they are first asked for; undefined outside of the text. */
export type OwnersIn = (index: number) => LineOwners | undefined;

export function ownersIn(lines: readonly MailLine[]): OwnersIn {
  const known = new Map<number, LineOwners>();
  return (index) => {
    const line = lines[index];
    if (line === undefined) return undefined;
    const owners = known.get(index) ?? ownersOf(line);
    known.set(index, owners);
    return owners;
  };
}

/** Which words of a line belong to which of its numbers. */
function ownersOf(line: MailLine): LineOwners {
  const free = new Set(line.labels);
  const owners = line.tokens.map((token): Owner => {
    const before = line.labels.filter((label) => free.has(label) && label.to <= token.from);
    const owner = nearestBefore(line, token, before.toReversed());
    if (owner === undefined) return 'none';
    if (consumes(line, token)) free.delete(owner);
    return owner;
  });
  return { owners, free: [...free] };
}

/** Dates, prices and small numbers do not use up the word in front of them. */
const consumes = (line: MailLine, { shape, from, to }: NumberToken): boolean =>
  shape !== 'other' || (to - from >= 8 && !/[a-z.,:/]/i.test(line.text.slice(from, to)));

function nearestBefore(line: MailLine, token: NumberToken, nearestFirst: readonly Label[]): Label | undefined {
  for (const label of nearestFirst) {
    const gap = line.text.slice(label.to, token.from);
    const letters = lettersIn(gap);
    if (letters > FAR_LETTERS) return undefined;
    // The cell of a name and the next one are a field.
    const broken = breakBetween(line, label.to, token.from, letters > 0 && !/^[^\t]*\t$/.test(gap));
    // Capitals are words of a sentence unless a colon hands them over, or "enter the code" does.
    const handed = /[:=]/.test(gap) && letters <= (/[:=]\s*$/.test(gap) && label.kind === 'certain' ? NEAR_LETTERS : 5);
    if ((token.shape === 'letters' || token.shape === 'words') && !handed && gap !== ' ') return undefined;
    if (label.kind === 'otherNumber') {
      if (letters > OTHER_NUMBER_LETTERS || (broken && letters > 0) || /[,;!?]/.test(gap)) continue;
      // "Go to step 2 and enter 118935": the name has a number of its own, or a verb begins another phrase.
      if (/\d/.test(gap) || line.hints.enter.some((at) => at >= label.to && at < token.from)) continue;
      // "The code for your transaction is 703184": the words behind the name of something else hand over the code.
      if (/[:=]/.test(gap) || (letters > 0 && isHandedOver(gap))) {
        const code = nearestFirst.find(
          ({ kind, to }) =>
            (kind === 'certain' || kind === 'possible') &&
            to <= label.from &&
            !breakBetween(line, to, label.from) &&
            !/[,;:()\t]/.test(line.text.slice(to, label.from)),
        );
        if (code !== undefined) return code;
      }
      return label;
    }
    if (broken || (label.kind === 'otherCode' && letters > OTHER_CODE_LETTERS)) return undefined;
    return label;
  }
  return undefined;
}

/** "step", "line", "no": names of numbers in one language and ordinary words of a sentence in the same or another. */
const isShortName = ({ kind, from, to }: Label): boolean =>
  kind === 'otherNumber' && to - from <= SHORT_NAME_MAX_CHARACTERS;
const SHORT_NAME_MAX_CHARACTERS = 4;

/** The word behind a number: "482913 is your code". */
export function labelBehind(line: MailLine, token: NumberToken): Label | undefined {
  const label = line.labels.find((one) => one.from >= token.to && !isShortName(one));
  if (label === undefined) return undefined;
  const gap = line.text.slice(token.to, label.from);
  if (lettersIn(gap) > RIGHT_LETTERS || breakBetween(line, token.to, label.from)) return undefined;
  // "302914 is your GovAccess code": capitals between are a name.
  const between = line.tokens.filter(({ from }) => from >= token.to && from < label.from);
  if (between.some(({ shape }) => shape !== 'other' && shape !== 'letters' && shape !== 'words')) return undefined;
  // A word that names the number behind it names no other.
  const next = line.tokens.find(({ from, shape }) => from >= label.to && shape !== 'other');
  if (
    next !== undefined &&
    lettersIn(line.text.slice(label.to, next.from)) <= 4 &&
    !breakBetween(line, label.to, next.from)
  )
    return undefined;
  // "Enter 482913 on the page": a place, where nothing says that the number is one of it.
  const entered = line.hints.enter.some((at) => at < token.from && !breakBetween(line, at, token.from));
  if (label.kind === 'otherNumber' && (lettersIn(gap) > OTHER_NUMBER_LETTERS || entered)) return undefined;
  return label;
}

/** The line above ends with a word for it: "your code is:". */
export function endsWithName({ lines, index }: Place): boolean {
  const above = lines[index - 1];
  const label = above?.labels.at(-1);
  return above !== undefined && label !== undefined && lettersIn(above.text.slice(label.to)) <= NEAR_LETTERS;
}

export interface Above {
  readonly kind: Label['kind'];
  readonly distance: number;
}

export function labelAbove(place: Place, owned: OwnersIn, token: NumberToken): Above | undefined {
  const { lines, index } = place;
  const own = lines[index];
  const cell = own === undefined ? 0 : own.text.slice(0, token.from).split('\t').length - 1;
  const cells = own === undefined ? 1 : own.text.split('\t').length;
  for (let distance = 1; distance <= LINES_ABOVE; distance++) {
    const line = lines[index - distance];
    const free = owned(index - distance)?.free;
    if (line === undefined || free === undefined) return undefined;
    const within = cells > 1 && line.text.split('\t').length === cells ? cellRange(line.text, cell) : undefined;
    const candidates =
      within === undefined ? free : free.filter(({ from, to }) => from >= within[0] && to <= within[1]);
    const mayBeOther = distance === 1 || within !== undefined;
    const label = leadingLabel(line, candidates, within?.[1] ?? line.text.length, mayBeOther);
    if (label !== undefined) return { kind: label.kind, distance };
    // Another number of its own line: what stands above it is its.
    if (line.tokens.some((other) => other.shape !== 'other' && isAlone(line, other)) && cells === 1) return undefined;
  }
  return undefined;
}

function cellRange(text: string, cell: number): readonly [number, number] {
  const cells = text.split('\t');
  const from = cells.slice(0, cell).reduce((sum, { length }) => sum + length + 1, 0);
  return [from, from + (cells[cell]?.length ?? 0)];
}

/** The word of a line that a number below it belongs to: names of other numbers only where the line ends with them. */
function leadingLabel(line: MailLine, free: readonly Label[], end: number, mayBeOther: boolean): Label | undefined {
  for (const label of free.toReversed()) {
    if (label.kind === 'certain' || label.kind === 'possible') return label;
    // "Enter this on the page:" asks for the number below.
    if (label.kind === 'otherNumber' && line.hints.enter.length > 0) continue;
    // "Dear customer," names no number, and "verify your phone." neither.
    if (label.kind === 'otherNumber' && (!mayBeOther || /^ ?(?:[,;!?，。]|\.$)/u.test(line.text.slice(label.to))))
      continue;
    if (
      isShortName(label) &&
      lettersIn(line.text.slice(0, label.from)) > 0 &&
      !/^ ?[:：#]/u.test(line.text.slice(label.to))
    )
      continue;
    if (
      lettersIn(line.text.slice(label.to, end)) <= OTHER_NUMBER_LETTERS &&
      (label.kind === 'otherCode' || end - label.from < 40)
    )
      return free.some(({ kind, to }) => (kind === 'certain' || kind === 'possible') && to <= label.from) &&
        label.kind === 'otherNumber'
        ? free.findLast(({ kind }) => kind === 'certain' || kind === 'possible')
        : label;
  }
  return free.findLast(({ kind }) => kind === 'otherCode');
}

export function labelBelow({ lines, index }: Place): 'certain' | 'possible' | undefined {
  for (let distance = 1; distance <= LINES_BELOW; distance++) {
    const line = lines[index + distance];
    if (line === undefined || line.tokens.some(({ shape }) => shape !== 'other')) return undefined;
    for (const { kind } of line.labels) {
      if (kind === 'otherCode') return undefined;
      if (kind === 'certain' || kind === 'possible') return kind;
    }
  }
  return undefined;
}
