/**
 * The signals of a message, from what was read of it. Pure, linear in the texts, and of each text only so much is
 * examined (`SIGNAL_TEXT_MAX_CHARACTERS`): a message of 30 MiB takes no longer than one of 64 KiB.
 */
import { domainToUnicode } from 'node:url';
import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { registrableDomain } from '#domain/mail/domain-names.ts';
import {
  COMMANDS_NOTED_WEIGHT,
  HIDDEN_COMMANDS_WEIGHT,
  type MessageSignal,
  type MessageSignals,
  SEEN_COMMANDS_WEIGHT,
  SIGNAL_DETAIL_MAX_CHARACTERS,
  SIGNAL_DETAILS_MAX,
  SIGNAL_PLACES,
  SIGNAL_TEXT_MAX_CHARACTERS,
  type SignalKind,
  type SignalPlace,
  SMUGGLED_LETTERS_MIN,
  type Suspicion,
} from '#domain/mail/message-signals.ts';
import type { LabelledAttachment } from '#mime/attachments.ts';
import { COMMAND_RULES, type CommandFinder, type CommandRules, commandFinder, NO_COMMANDS } from './command-rules.ts';
import { mixedWords, skeleton } from './confusables.ts';
import { encodedBlocks } from './encoded-blocks.ts';
import { hiddenCharacters } from './hidden-characters.ts';
import { KNOWN_DOMAINS } from './known-domains.ts';

export interface ExaminedMessage {
  readonly from: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly replyTo: readonly MailAddress[];
  readonly subject: string;
  /** The text that is shown. */
  readonly text: string;
  /** Of the HTML; the same as the text if that is made from it. */
  readonly htmlText: string;
  /** What a person does not see of the HTML (`HtmlContent.hidden`), and its comments. */
  readonly hidden: string;
  readonly comments: string;
  readonly attachments: readonly LabelledAttachment[];
}

let finder: CommandFinder | undefined;
let rules: CommandRules = COMMAND_RULES;

/** Replaces the rules in this thread, before messages are read. */
export function useCommandRules(given: CommandRules): void {
  rules = given;
  finder = undefined;
}

/** Those in use, for threads that are started later. */
export const commandRulesInUse = (): CommandRules => rules;

export function messageSignals(message: ExaminedMessage): MessageSignals {
  finder ??= commandFinder(rules);
  const signals: MessageSignal[] = [];
  const suspicions = new Set<Suspicion>();
  const add = (kind: SignalKind, count: number, details: readonly string[] = [], place: SignalPlace = 'seen'): void => {
    if (count > 0) signals.push({ kind, place, count, details: shortened(details) });
  };
  const text = message.text.slice(0, SIGNAL_TEXT_MAX_CHARACTERS);
  const htmlText = message.htmlText.slice(0, SIGNAL_TEXT_MAX_CHARACTERS);
  const seen = `${message.subject}\n\n${text}${htmlText === text ? '' : `\n\n${htmlText}`}`;

  add('hidden_text', lettersOf(message.hidden), [], 'hidden');
  const invisible = hiddenCharacters(seen);
  add('invisible_characters', invisible.count, [], 'hidden');
  if (lettersOf(invisible.smuggled) >= SMUGGLED_LETTERS_MIN) suspicions.add('smuggled_text');
  if (differ(text, htmlText)) add('text_differs', 1);

  const lookalike = lookalikeDomains(message);
  add('lookalike_domain', lookalike.length, lookalike);
  if (lookalike.length > 0) suspicions.add('lookalike_domain');
  const names = misleadingNames(message);
  add('lookalike_name', names.length, names);
  const elsewhere = repliesElsewhere(message);
  add('reply_to_elsewhere', elsewhere.length, elsewhere);

  const boundaries = forgedBoundaries(seen);
  add('forged_boundary', boundaries.length, boundaries);
  const encoded = encodedBlocks(text === '' ? htmlText : text);
  add('encoded_block', encoded.count, [], 'encoded');

  const found = {
    seen: finder.find(seen),
    hidden: finder.find(`${message.hidden}\n\n${message.comments}\n\n${invisible.smuggled}`),
    encoded: encoded.texts.length === 0 ? NO_COMMANDS : finder.find(encoded.texts.join('\n\n')),
  };
  for (const place of SIGNAL_PLACES)
    if (found[place].weight >= COMMANDS_NOTED_WEIGHT)
      add('commands_assistant', found[place].ids.length, found[place].ids, place);
  if (found.seen.weight >= SEEN_COMMANDS_WEIGHT) suspicions.add('commands_assistant');
  // What is in both is hidden from nobody.
  const onlyHidden = [found.hidden, found.encoded].some(
    ({ weight, ids }) => weight >= HIDDEN_COMMANDS_WEIGHT && ids.some((id) => !found.seen.ids.includes(id)),
  );
  if (onlyHidden) suspicions.add('hidden_commands');
  if (boundaries.length > 0 && found.seen.weight > 0) suspicions.add('forged_boundary');

  const risky = message.attachments.filter(({ risks }) => risks !== undefined && risks.length > 0);
  add('risky_attachment', risky.length, [...new Set(risky.flatMap(({ risks }) => risks ?? []))]);
  if (risky.some(isDisguised)) suspicions.add('disguised_program');
  return { signals, suspicions: [...suspicions] };
}

const shortened = (details: readonly string[]): string[] =>
  details.slice(0, SIGNAL_DETAILS_MAX).map((detail) =>
    detail
      .replace(/[\p{C}\s]/gu, ' ')
      .slice(0, SIGNAL_DETAIL_MAX_CHARACTERS)
      .toWellFormed(),
  );

/** Without the blanks and the fillers by which newsletters keep the text behind a preview out of lists. */
const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

const WORD = /[\p{L}\p{N}]{3,40}/gu;
const DIFFERENT_WORDS_MIN = 12;
const SHARED_MIN = 0.5;
const ADDRESS_OF_LINK = /https?:\/\/[^\s<>"']+/gi;

/** Whether the text and the HTML say different things: most words of the shorter one are not in the other. */
function differ(text: string, htmlText: string): boolean {
  if (text === htmlText || text.trim() === '' || htmlText.trim() === '') return false;
  const words = (of: string) => new Set(of.replace(ADDRESS_OF_LINK, ' ').toLowerCase().match(WORD) ?? []);
  const [one, other] = [words(text), words(htmlText)].sort((a, b) => a.size - b.size);
  if (one === undefined || other === undefined || other.size < DIFFERENT_WORDS_MIN) return false;
  let shared = 0;
  for (const word of one) if (other.has(word)) shared++;
  return one.size > 0 && shared / one.size < SHARED_MIN;
}

/** With its capitals, which are part of how it looks. */
const domainAsWritten = (address: string): string => {
  const domain = address.slice(address.lastIndexOf('@') + 1).replace(/\.$/, '');
  return /xn--/i.test(domain) ? domainToUnicode(domain) || domain : domain;
};

/** The part of a domain that belongs to its owner, as written. */
function ownedPart(domain: string): string {
  const labels = registrableDomain(domain).split('.').length;
  return domain.split('.').slice(-labels).join('.');
}

const KNOWN_BY_SKELETON: ReadonlyMap<string, string> = new Map(
  KNOWN_DOMAINS.map((domain) => [skeleton(domain), domain] as const),
);

/** Domains of the author and of Reply-To that look like a well-known one, like that of a recipient, or mix scripts. */
function lookalikeDomains({ from, replyTo, to, cc }: ExaminedMessage): string[] {
  const owners = new Set([...to, ...cc].slice(0, RECIPIENTS_LOOKED_AT).map(({ address }) => domainAsWritten(address)));
  const found = new Set<string>();
  for (const { address } of [...from, ...replyTo].slice(0, AUTHORS_LOOKED_AT)) {
    if (!address.includes('@')) continue;
    const written = ownedPart(domainAsWritten(address));
    const domain = written.toLowerCase();
    const looks = skeleton(written);
    const known = KNOWN_BY_SKELETON.get(looks);
    if (known !== undefined && known !== domain && !KNOWN_DOMAINS.includes(domain)) found.add(`${domain} (${known})`);
    for (const owner of owners) {
      const own = ownedPart(owner).toLowerCase();
      if (own !== domain && skeleton(own) === looks) found.add(`${domain} (${own})`);
    }
    if (found.size === 0 && mixedWords(domain).length > 0) found.add(domain);
  }
  return [...found];
}
const RECIPIENTS_LOOKED_AT = 20;
const AUTHORS_LOOKED_AT = 10;

const ADDRESS_IN_NAME = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/u;

/** Names of the author that contain another address than the author's, or mix letters that look alike. */
function misleadingNames({ from, replyTo }: ExaminedMessage): string[] {
  const own = new Set([...from, ...replyTo].map(({ address }) => address.toLowerCase()));
  return from.slice(0, AUTHORS_LOOKED_AT).flatMap(({ name }) => {
    const shown = name.slice(0, NAME_LOOKED_AT_CHARACTERS);
    const address = ADDRESS_IN_NAME.exec(shown)?.[0].toLowerCase();
    if (address !== undefined && !own.has(address)) return [address];
    return mixedWords(shown).slice(0, 1);
  });
}
const NAME_LOOKED_AT_CHARACTERS = 500;

/** Domains of Reply-To that belong to others than the author. */
function repliesElsewhere({ from, replyTo }: ExaminedMessage): string[] {
  const authors = new Set(from.map(({ address }) => registrableDomain(domainAsWritten(address))));
  if (authors.size === 0) return [];
  const domains = replyTo
    .filter(({ address }) => address.includes('@'))
    .map(({ address }) => registrableDomain(domainAsWritten(address)));
  return [...new Set(domains.filter((domain) => !authors.has(domain)))];
}

/** What ends or begins a message for a program that reads it: marks of chat models, and those of this service. */
const BOUNDARIES: readonly (readonly [name: string, mark: RegExp])[] = [
  ['untrusted-mail', /<\/?\s?untrusted[-_](?:mail|content|data|text|input)/i],
  ['chat-mark', /<\|(?:im_start|im_end|endoftext|system|user|assistant|eot_id|start_header_id|end_header_id)\|>/i],
  ['instruction-mark', /\[\/?INST\]|<<\/?SYS>>/],
  ['role-tag', /<\/?(?:system|assistant|human|tool_result|function_results|tool_response|instructions)>/i],
  ['role-line', /^[ \t]{0,8}#{0,4} ?(?:system|assistant|human|developer)(?: (?:message|prompt|override))?:[ \t]/im],
  ['end-line', /^[-=*_#<[ ]{2,20}end of (?:the )?(?:e-?mail|message|untrusted|document|context|user|input|quoted)/im],
];

const forgedBoundaries = (text: string): string[] =>
  BOUNDARIES.filter(([, mark]) => mark.test(text)).map(([name]) => name);

const isDisguised = ({ risks = [] }: LabelledAttachment): boolean =>
  risks.includes('program') &&
  (risks.includes('double_extension') || risks.includes('text_direction') || risks.includes('type_mismatch'));
