/** Base subject (RFC 5256 §2.1): what stays of a subject when replies and forwards are taken off. */

const LEADER =
  /^\s*(?:\[[^\]\r\n]{0,80}\]\s*)?(?:re|fwd?|aw|wg|sv|vs|antw|tr|rv)\s*(?:\[[^\]\r\n]{0,20}\]|\(\d{1,4}\))?\s*:\s*/i;
/** `[list]` in front of a subject, where something stands behind it. */
const BLOB = /^\s*\[[^\]\r\n]{0,80}\]\s*(?=\S)/;
const TRAILER = /\s*\(fwd\)\s*$/i;

interface BaseSubject {
  /** Lower-cased, spaces collapsed. */
  readonly base: string;
  /** Whether something was taken off, which is what makes a subject a reply's. */
  readonly isReply: boolean;
}

export function baseSubject(subject: string): BaseSubject {
  let base = subject.replace(/\s+/g, ' ').trim().slice(0, 1_000);
  let isReply = false;
  for (;;) {
    const shorter = base.replace(LEADER, '').replace(TRAILER, '');
    if (shorter !== base) {
      base = shorter;
      isReply = true;
      continue;
    }
    const withoutBlob = base.replace(BLOB, '');
    if (withoutBlob === base) return { base: base.trim().toLowerCase(), isReply };
    base = withoutBlob;
  }
}
