/**
 * Facts about an arriving message that its reader cannot see or may misread. They are no verdict: newsletters hide text,
 * support desks answer from elsewhere. Which combinations make a message suspicious is decided beside them.
 */

export const SIGNAL_KINDS = [
  'hidden_text',
  'invisible_characters',
  'text_differs',
  'lookalike_domain',
  'lookalike_name',
  'reply_to_elsewhere',
  'forged_boundary',
  'encoded_block',
  'commands_assistant',
  'risky_attachment',
] as const;
export type SignalKind = (typeof SIGNAL_KINDS)[number];

/** Where in the message: what its reader sees, what the HTML hides, or what an encoding hides. */
export const SIGNAL_PLACES = ['seen', 'hidden', 'encoded'] as const;
export type SignalPlace = (typeof SIGNAL_PLACES)[number];

export interface MessageSignal {
  readonly kind: SignalKind;
  readonly place: SignalPlace;
  /** How many: characters of hidden text and of invisible ones, otherwise occurrences. */
  readonly count: number;
  /** Names of rules, domains, addresses or risks; never words of the message that were hidden. */
  readonly details: readonly string[];
}

/** Why a message is suspicious. */
export const SUSPICIONS = [
  'commands_assistant',
  'hidden_commands',
  'smuggled_text',
  'forged_boundary',
  'lookalike_domain',
  'disguised_program',
] as const;
export type Suspicion = (typeof SUSPICIONS)[number];

export interface MessageSignals {
  readonly signals: readonly MessageSignal[];
  readonly suspicions: readonly Suspicion[];
}

/** Nothing was found, or the message could not be read. */
export const NO_SIGNALS: MessageSignals = { signals: [], suspicions: [] };

/** Text of each place that is examined; what is behind is not. */
export const SIGNAL_TEXT_MAX_CHARACTERS = 65_536;
export const SIGNAL_DETAILS_MAX = 10;
export const SIGNAL_DETAIL_MAX_CHARACTERS = 100;
/** Encoded blocks of a message that are decoded. */
export const ENCODED_BLOCKS_MAX = 20;
/** Commands, by the weights of the rules that match: from which they are a signal; from which text that its reader sees is suspicious, and text that is hidden. */
export const COMMANDS_NOTED_WEIGHT = 2;
export const SEEN_COMMANDS_WEIGHT = 3;
export const HIDDEN_COMMANDS_WEIGHT = 2;
/** Letters written in invisible characters, from which a message is suspicious. */
export const SMUGGLED_LETTERS_MIN = 8;
