import { withoutHidden } from './text-forms.ts';

const WORDS_OF_OTHERS_MAX_CHARACTERS = 500;

/**
 * Text of another host on one line of at most 500 characters, without hidden characters. It may contain anything: a line
 * break would end a header field, and a NUL is refused by PostgreSQL.
 */
export const oneLine = (text: string): string =>
  withoutHidden(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, WORDS_OF_OTHERS_MAX_CHARACTERS);
