/** Whether the words between the name of a code and a number say that the one is the other. */
import { fold } from '#mime/words/fold.ts';
import { matcherOf } from '#mime/words/word-lists.ts';
import { lettersIn } from './place.ts';

/**
 * Whether the words between a name and a number say that the one is the other: they end with a colon, a dash, a cell or "is".
 * Other words name another thing: "the password of account RA 204418", "code to log in (membership 04227718)".
 */
export function isHandedOver(gap: string): boolean {
  if (HANDING_SIGN.test(gap)) return true;
  const word = handsOver.find(fold(gap)).at(-1);
  return word !== undefined && lettersIn(gap.slice(word.to)) === 0;
}
const HANDING_SIGN = /[-–—:：=→>\t][^\p{L}\p{N}]*$/u;
const handsOver = matcherOf('handsOver');
