import { nameOfCharacter, UNSEEN } from './unseen-characters.ts';

/** Of the unseen characters, what turns the direction of others; the rest is ordinary in long texts of some languages. */
const TURNING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
const MARKS_MAX = 4;
const MARKS = new RegExp(`(\\p{M}{${MARKS_MAX}})\\p{M}+`, 'gu');

/**
 * Untrusted text: a subject, a name, a file name, a label. Its direction does not affect the text around it (`bdi`), and
 * invisible characters are shown by name.
 */
export function ForeignText({
  text,
  long = false,
  max = 1_000,
}: {
  readonly text: string;
  /** The text of a mail: marks that its language needs are left alone. */
  readonly long?: boolean;
  /** Characters that are shown. */
  readonly max?: number;
}) {
  const shown = (text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text).replace(MARKS, '$1');
  const unseen = long ? TURNING : UNSEEN;
  if (!unseen.test(shown)) return <bdi>{shown}</bdi>;
  const pieces = [...shown.matchAll(new RegExp(`(${unseen.source})|[^][^]*?(?=${unseen.source}|$)`, 'gu'))];
  return (
    <bdi>
      {pieces.map(({ index: offset, 0: piece, 1: hidden }) =>
        hidden === undefined ? (
          piece
        ) : (
          <span
            key={offset}
            title="A character that cannot be seen and may change how the text around it looks"
            className="mx-0.5 rounded bg-stop-soft px-1 font-mono text-[11px] text-stop"
          >
            {nameOfCharacter(hidden)}
          </span>
        ),
      )}
    </bdi>
  );
}
