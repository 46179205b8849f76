/**
 * Base subject as SORT and THREAD compare it (RFC 5256 §2.1): exactly the leaders of the RFC, so that clients that
 * compute it themselves get the same result. Threading in the store uses its own, wider rule.
 */

const TRAILER = /(?:\(fwd\)|\s)+$/i;
const BLOB = String.raw`\[[^[\]]*\]\s*`;
const LEADER = new RegExp(String.raw`^(?:\s+|(?:${BLOB})*(?:re|fwd?)\s*(?:${BLOB})?:)`, 'i');
const LEADING_BLOB = new RegExp(`^${BLOB}`);
const FORWARD = /^\[fwd:(.*)\]$/is;
const LOOKED_AT_CHARACTERS = 1_000;

export interface ThreadSubject {
  readonly base: string;
  /** A reply or forward marker was removed. */
  readonly isReply: boolean;
}

export function threadSubject(decoded: string): ThreadSubject {
  let text = decoded.slice(0, LOOKED_AT_CHARACTERS).replace(/\s+/g, ' ');
  let isReply = false;
  for (;;) {
    const trimmed = text.replace(TRAILER, '');
    if (/\(fwd\)/i.test(text.slice(trimmed.length))) isReply = true;
    text = trimmed;
    for (;;) {
      const leader = LEADER.exec(text)?.[0];
      if (leader !== undefined && leader !== '') {
        if (leader.trim() !== '') isReply = true;
        text = text.slice(leader.length);
        continue;
      }
      const blob = LEADING_BLOB.exec(text)?.[0];
      // A blob is removed only if something remains.
      if (blob === undefined || text.slice(blob.length) === '') break;
      text = text.slice(blob.length);
    }
    const forwarded = FORWARD.exec(text)?.[1];
    if (forwarded === undefined) return { base: collationKey(text), isReply };
    isReply = true;
    text = forwarded;
  }
}

/** i;unicode-casemap (RFC 5051), as far as comparison needs it: compatibility-decomposed, without case. */
export const collationKey = (text: string): string => text.toUpperCase().normalize('NFKD');
