/** Blocks of base64 or hexadecimal digits in a text, decoded where they are text. Linear in the text. */
import { ENCODED_BLOCKS_MAX } from '#domain/mail/message-signals.ts';

/** Shorter ones are names, numbers and keys. */
const BLOCK_MIN_CHARACTERS = 40;
/** A run of the letters of base64; lines of one block are joined before. */
const RUN = /[A-Za-z0-9+/_-]{40,}={0,2}/g;
const LINE_END_IN_BLOCK = /(?<=[A-Za-z0-9+/]{60})\r?\n(?=[A-Za-z0-9+/])/g;
const ADDRESS_OF_LINK = /(?:https?|cid|data|mailto):[^\s<>"']+/gi;
/** Signed or encrypted mail, keys and certificates. */
const ARMOUR = '-----BEGIN ';
const HEX = /^[0-9a-fA-F]+$/;
const MIXED = /[a-z]/;

interface EncodedBlocks {
  readonly count: number;
  /** What those say that are text. */
  readonly texts: readonly string[];
}

export function encodedBlocks(text: string): EncodedBlocks {
  if (text.includes(ARMOUR)) return { count: 0, texts: [] };
  const plain = text.replace(ADDRESS_OF_LINK, ' ').replace(LINE_END_IN_BLOCK, '');
  let count = 0;
  const texts: string[] = [];
  for (const [run] of plain.matchAll(RUN)) {
    if (run.length < BLOCK_MIN_CHARACTERS || count >= ENCODED_BLOCKS_MAX) continue;
    const decoded = decodedText(run);
    if (decoded === undefined) continue;
    count++;
    texts.push(decoded);
  }
  return { count, texts };
}

/** Undefined: it is no text, such as a key or a hash. */
function decodedText(run: string): string | undefined {
  const isHex = HEX.test(run) && run.length % 2 === 0;
  // A long word or a rule of dashes has no digits and capitals between small letters.
  if (!isHex && !(MIXED.test(run) && /[A-Z]/.test(run) && /[0-9+/=]/.test(run))) return undefined;
  const bytes = Buffer.from(run, isHex ? 'hex' : 'base64');
  const text = bytes.toString('utf8');
  const readable = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\n\r\t]/gu)?.length ?? 0;
  const letters = text.match(/[\p{L} ]/gu)?.length ?? 0;
  return readable >= text.length * 0.95 && letters >= text.length * 0.6 ? text : undefined;
}
