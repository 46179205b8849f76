/** Characters that nobody sees: how many a text has, and what is written in them. Linear in the text. */

/** Zero-width spaces and joiners, marks of direction, fillers; those that letters of some scripts need are looked at below. */
const INVISIBLE =
  /\u034f|[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/gu;
/** Joiners beside letters of scripts that need them, and within emoji. */
const NEEDED =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Malayalam}\p{Script=Kannada}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}\p{Script=Hebrew}\p{Script=Thai}\p{Extended_Pictographic}\ufe0f]/u;
/** Tags (letters written in invisible characters), and variation selectors that no font has. */
const TAG_FIRST = 0xe0020;
const TAG_LAST = 0xe007e;
const TAGS = /[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/u;
/** A flag of a region is a black flag, letters in tags, and the tag that ends them. */
const REGION_FLAG = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu;

export interface HiddenCharacters {
  readonly count: number;
  /** ASCII text that is written in tags. */
  readonly smuggled: string;
}

export function hiddenCharacters(text: string): HiddenCharacters {
  let count = 0;
  for (const { index } of text.matchAll(INVISIBLE)) {
    const around = `${text[index - 1] ?? ''}${text[index + 1] ?? ''}`;
    const wide = `${text.slice(Math.max(0, index - 2), index)}${text.slice(index + 1, index + 3)}`;
    if (!NEEDED.test(around) && !NEEDED.test(wide)) count++;
  }
  let smuggled = '';
  if (TAGS.test(text)) {
    for (const letter of text.replace(REGION_FLAG, '')) {
      const code = letter.codePointAt(0) ?? 0;
      if (code < 0xe0000 || code > 0xe01ef) continue;
      count++;
      if (code >= TAG_FIRST && code <= TAG_LAST) smuggled += String.fromCharCode(code - 0xe0000);
      // Bytes may be written in variation selectors as well.
      else if (code >= 0xe0100) smuggled += String.fromCharCode(code - 0xe0100 + 16);
    }
  }
  return { count, smuggled };
}
