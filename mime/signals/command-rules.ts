/**
 * Sentences that command an assistant, found by rules that are data (`command-rules.json`, or the file of a setting).
 *
 *   rule         groups of phrases, one of each in this order, within so many words of one sentence; `word*` stands for
 *                any ending. Words are compared without case, accents, hyphens and apostrophes
 *   containing   texts of scripts without spaces, found anywhere
 *
 * Each word of a text is looked at once, and a rule remembers one place for each of its groups. So the time is linear in
 * the text, whatever the rules are.
 */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { SIGNAL_TEXT_MAX_CHARACTERS } from '#domain/mail/message-signals.ts';
import { fold, plainText } from '#mime/words/fold.ts';
import given from './command-rules.json' with { type: 'json' };
import { unmixed } from './confusables.ts';

const RULES_MAX = 500;
const PHRASES_MAX = 500;
const PHRASE_MAX_CHARACTERS = 100;
const WITHIN_MAX_WORDS = 40;

const Id = Type.String({ pattern: '^[a-z0-9_-]{1,60}$' });
const Weight = Type.Integer({ minimum: 1, maximum: 3 });
const Phrases = Type.Array(Type.String({ minLength: 1, maxLength: PHRASE_MAX_CHARACTERS }), {
  minItems: 1,
  maxItems: PHRASES_MAX,
});
const CommandRules = Type.Object(
  {
    rules: Type.Array(
      Type.Object(
        {
          id: Id,
          weight: Weight,
          within: Type.Integer({ minimum: 1, maximum: WITHIN_MAX_WORDS }),
          groups: Type.Array(Phrases, { minItems: 1, maxItems: 6 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: RULES_MAX },
    ),
    containing: Type.Array(Type.Object({ id: Id, weight: Weight, texts: Phrases }, { additionalProperties: false }), {
      maxItems: RULES_MAX,
    }),
  },
  { additionalProperties: false },
);
export type CommandRules = Static<typeof CommandRules>;

/** @throws {Error} with the place of the first mistake */
export function parseCommandRules(text: string): CommandRules {
  const rules: unknown = JSON.parse(text);
  if (Value.Check(CommandRules, rules)) return rules;
  const [first] = Value.Errors(CommandRules, rules);
  throw new Error(`${first?.instancePath || '/'} ${first?.message ?? 'is wrong'}`);
}

/** What the rules found in a text. */
export interface FoundCommands {
  /** Of the rules, each once. */
  readonly ids: readonly string[];
  /** The sum of the weights of those rules. */
  readonly weight: number;
}
export const NO_COMMANDS: FoundCommands = { ids: [], weight: 0 };

export interface CommandFinder {
  find(text: string): FoundCommands;
}

interface Entry {
  /** Of the rule and of the group in it. */
  readonly rule: number;
  readonly group: number;
  /** Words of the phrase behind the first. */
  readonly rest: readonly string[];
  /** The last word may have any ending. */
  readonly anyEnding: boolean;
}

/** Beginnings by which words with any ending are found. */
const PREFIX_CHARACTERS = 3;

export function commandFinder({ rules, containing }: CommandRules): CommandFinder {
  const byWord = new Map<string, Entry[]>();
  const byPrefix = new Map<string, (Entry & { readonly first: string })[]>();
  for (const [rule, { groups }] of rules.entries())
    for (const [group, phrases] of groups.entries())
      for (const phrase of phrases) {
        const anyEnding = phrase.endsWith('*');
        const [first, ...rest] = wordsOf(phrase).filter((word) => word !== BREAK);
        if (first === undefined) continue;
        const entry = { rule, group, rest, anyEnding };
        if (anyEnding && rest.length === 0 && first.length >= PREFIX_CHARACTERS)
          append(byPrefix, first.slice(0, PREFIX_CHARACTERS), { ...entry, first });
        else append(byWord, first, entry);
      }
  for (const entries of [...byWord.values(), ...byPrefix.values()]) entries.sort((a, b) => b.group - a.group);
  const texts = containing.map((each) => ({ ...each, texts: each.texts.map(folded) }));

  return {
    find(text) {
      const whole = folded(text.slice(0, SIGNAL_TEXT_MAX_CHARACTERS));
      const words = wordsOfFolded(whole);
      const found = new Set<number>();
      // Where the newest chain of phrases up to each group began.
      const begun = rules.map(({ groups }) => new Int32Array(groups.length).fill(-1));
      let sentence = 0;
      for (const [at, word] of words.entries()) {
        if (word === BREAK) {
          sentence = at + 1;
          continue;
        }
        // Groups from the last to the first: a word is one phrase of a chain.
        const matching = [
          ...(byWord.get(word) ?? []),
          ...(byPrefix.get(word.slice(0, PREFIX_CHARACTERS)) ?? []).filter(({ first }) => word.startsWith(first)),
        ].sort((a, b) => b.group - a.group);
        for (const { rule, group, rest, anyEnding } of matching) {
          if (!continues(words, at + 1, rest, anyEnding)) continue;
          const chain = begun[rule];
          if (chain === undefined) continue;
          const from = group === 0 ? at : (chain[group - 1] ?? -1);
          if (from < sentence || at - from > (rules[rule]?.within ?? 0)) continue;
          chain[group] = from;
          if (group === chain.length - 1) found.add(rule);
        }
      }
      const ids = new Map([...found].map((rule) => [rules[rule]?.id ?? '', rules[rule]?.weight ?? 0]));
      for (const { id, weight, texts: sought } of texts)
        if (sought.some((each) => whole.includes(each))) ids.set(id, weight);
      return { ids: [...ids.keys()], weight: [...ids.values()].reduce((sum, weight) => sum + weight, 0) };
    },
  };
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function continues(words: readonly string[], at: number, rest: readonly string[], anyEnding: boolean): boolean {
  return rest.every((word, i) => {
    const found = words[at + i];
    return found === word || (anyEnding && i === rest.length - 1 && found?.startsWith(word) === true);
  });
}

const folded = (text: string): string => fold(unmixed(plainText(text)).replace(/['’ʼ‘´`]/g, ''));
const wordsOf = (text: string): string[] => wordsOfFolded(folded(text));

/** Between sentences. */
const BREAK = '';
const WORD_OR_BREAK = /[\p{L}\p{M}\p{N}_]{1,64}|[.!?](?=\s|$)|[。！？]|\n[ \r]{0,8}\n/gu;
const LETTER = /^\p{L}$/u;
/** So many letters with spaces between them are one word. */
const SPACED_LETTERS_MIN = 3;

function wordsOfFolded(text: string): string[] {
  const words: string[] = [];
  let letters: string[] = [];
  const endLetters = (): void => {
    if (letters.length >= SPACED_LETTERS_MIN) words.push(letters.join(''));
    else words.push(...letters);
    letters = [];
  };
  let lettersTo = 0;
  for (const { 0: word, index } of text.matchAll(WORD_OR_BREAK)) {
    if (LETTER.test(word)) {
      // More than a space is between words.
      if (index > lettersTo + 1) endLetters();
      letters.push(word);
      lettersTo = index + word.length;
      continue;
    }
    endLetters();
    words.push(/^[\p{L}\p{M}\p{N}_]/u.test(word) ? word : BREAK);
  }
  endLetters();
  return words;
}

export const COMMAND_RULES: CommandRules = given;
