import type { Token } from './queries.ts';

/** What a token may do, with a sentence each. */
export const ACCESSES: readonly (readonly [access: Token['access'], title: string, sentence: string])[] = [
  ['full', 'Everything', 'Can read, change and send mail.'],
  ['read', 'Read only', 'Can read mail, but not change or send anything. Mail clients open folders read-only.'],
  ['send', 'Send only', 'Can send mail, and read the status of sent messages.'],
];

export const accessTitle = (access: Token['access']): string =>
  ACCESSES.find(([each]) => each === access)?.[1] ?? access;
