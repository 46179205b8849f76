/**
 * The new text of a reply: without quoted mail and without the signature, as far as these can be recognized.
 *
 * Reads line by line with bounded patterns, because the text is untrusted: patterns across lines take minutes on lines made
 * for that. In doubt the text stays.
 */

/** Longer lines are text: no mail client writes such attributions or signatures. */
const LINE_LOOKED_AT_CHARACTERS = 300;
/** Clients fold the line above a quote. */
const ATTRIBUTION_LINES_MAX = 3;

/** How the line above a quote begins and ends, e.g. `On Mon, Jan 5, Ann <a@b.c> wrote:`. */
const ATTRIBUTIONS: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^On\s/, /\bwrote:?$/],
  [/^Le\s/, /écrit\s?:?$/],
  [/^El\s/, /escribió:?$/],
  [/^(?:Il|In data)\s/, /scritto:?$/],
  [/^Em\s/, /escreveu:?$/],
  [/^Am\s/, /schrieb\b.*:$/],
  [/^Op\s/, /schreef\b.*:$/],
  [/^(?:W\sdniu|Dnia)\s/, /(?:pisze|napisał(?:\(a\))?):$/],
  [/^Den\s/, /skrev\b.*:$/],
  [/^[A-Za-z]{2,4}\.?\s/, /(?:kirjoitti|skrev\b.*):$/],
  [/^(?:пн|вт|ср|чт|пт|сб|вс),\s/, />:$/],
  [/^在/, /写道：$/],
  [/^20\d\d[./]/, /(?:작성|のメッセージ):$/],
  [/^20\d\d-\d\d-\d\d\s/, /(?:>|wrote):$/],
  [/^\d\d[./]\d\d[./]20\d\d/, />\s?:$/],
  [/^\S.*<[^<>\s]+@[^<>\s]+>/, /\b(?:wrote|schrieb)\b.*:$/],
];

/** How the last line of any attribution ends; few lines of a mail end like this. */
const ATTRIBUTION_END = /(?:[:：]|wrote|écrit|escribió|scritto|escreveu)$/;
const ATTRIBUTION_LAST_CHARACTERS = ':：etóou';

/** The line above a whole mail that was not marked as a quote. */
const ORIGINAL_MESSAGE =
  /^-{2,12} ?(?:original message|ursprüngliche nachricht|message d'origine|oprindelig besked|mensaje original|messaggio originale) ?-{0,12}$/i;
/** The header that clients put above such a mail; two more of its fields must follow. */
const QUOTED_FROM = /^\*?(?:From|Von|De|Van|Da|Od|От|Från|Fra)\s?:\*?\s*\S/;
const QUOTED_FIELD =
  /^\*?(?:Sent|Date|To|Cc|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Verzonden|Aan|Onderwerp|Inviato|A|Oggetto|Enviado|Para|Asunto|Assunto|Data|Skickat|Till|Ämne|Sendt|Til|Emne)\s?:/;
/** With what such mail begins: a rule of signs, or a short word with a colon behind it. */
const QUOTED_MAIL_BEGINS = /^\s*(?:[*_-]|\p{L}{2,4}\s?:)/u;
const RULE = /^[_*-]{5,}$/;
const SIGNATURE =
  /^(?:--|Sent from my? .+|Sent via .+|Get Outlook for .+|Gesendet von .+|Von meinem .+ gesendet|Envoyé (?:depuis|de mon|à partir de) .+|Télécharger Outlook pour .+|Enviado desde .+|Inviato da .+|Verzonden vanaf .+|Verstuurd vanaf .+|Sendt fra .+|(?:[A-Za-z]{1,10} )?(?:regards|wishes|cordialement)[,!.]?|Cheers[,!]?)$/i;

/** @param text with LF as line end */
export function replyText(text: string): string {
  const lines = text.split('\n');
  const mayEnd = lines.map(mayEndAttribution);
  const kept: string[] = [];
  let inSignature = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (isQuoted(line)) {
      inSignature = false;
      continue;
    }
    const behind = behindAttribution(lines, at, mayEnd);
    if (behind !== undefined) {
      const next = firstSaid(lines, behind);
      if (isQuoted(lines[next] ?? '')) {
        at = next;
        inSignature = false;
        continue;
      }
      if (at === 0 || lines[at - 1]?.trim() === '') break;
    }
    if (startsQuotedMail(lines, at)) break;
    // Only at the end of what was said: text under a line that merely looks like one is not lost.
    if (!inSignature && isSignature(line) && endsSoon(lines, at, mayEnd)) inSignature = true;
    if (!inSignature) kept.push(line);
  }
  return kept.join('\n').trim();
}

const isQuoted = (line: string): boolean => line.startsWith('>');

/** Undefined for lines nothing is looked for in. */
function looked(line: string | undefined): string | undefined {
  return line === undefined || line.length > LINE_LOOKED_AT_CHARACTERS ? undefined : line.trim();
}

function firstSaid(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && at < from + ATTRIBUTION_LINES_MAX && lines[at]?.trim() === '') at++;
  return at;
}

/** The line behind an attribution that begins at `at`, or undefined. */
function behindAttribution(lines: readonly string[], at: number, mayEnd: readonly boolean[]): number | undefined {
  if (!endsAttributionSoon(mayEnd, at)) return undefined;
  const first = looked(lines[at]);
  if (first === undefined || first === '') return undefined;
  const ends = ATTRIBUTIONS.filter(([start]) => start.test(first)).map(([, end]) => end);
  let joined = '';
  for (let last = at; ends.length > 0 && last < at + ATTRIBUTION_LINES_MAX; last++) {
    const line = looked(lines[last]);
    if (line === undefined || line === '' || isQuoted(line)) return undefined;
    joined += ` ${line}`;
    if (ends.some((end) => end.test(joined))) return last + 1;
  }
  return undefined;
}

function endsAttributionSoon(mayEnd: readonly boolean[], at: number): boolean {
  for (let last = at; last < at + ATTRIBUTION_LINES_MAX; last++) if (mayEnd[last] === true) return true;
  return false;
}

function mayEndAttribution(line: string): boolean {
  // The end of most lines tells without a copy of them.
  const last = line.charCodeAt(line.length - 1);
  if (last < 0x80 && last > 0x20 && !ATTRIBUTION_LAST_CHARACTERS.includes(line.charAt(line.length - 1))) return false;
  const end = line.trimEnd();
  return ATTRIBUTION_LAST_CHARACTERS.includes(end.charAt(end.length - 1)) && ATTRIBUTION_END.test(end);
}

function startsQuotedMail(lines: readonly string[], at: number): boolean {
  if (!QUOTED_MAIL_BEGINS.test(lines[at] ?? '')) return false;
  const line = looked(lines[at]);
  if (line === undefined || line === '') return false;
  if (ORIGINAL_MESSAGE.test(line)) return true;
  const from = RULE.test(line) ? firstSaid(lines, at + 1) : at;
  const before = lines[at - 1]?.trim() ?? '';
  if (from === at && before !== '') return false;
  if (!QUOTED_FROM.test(looked(lines[from]) ?? '')) return false;
  return lines.slice(from + 1, from + 6).filter((each) => QUOTED_FIELD.test(looked(each) ?? '')).length >= 2;
}

const SIGNATURE_LINES_MAX = 12;

const isSignature = (line: string): boolean => SIGNATURE.test(looked(line) ?? '');

/** Whether the text ends, or a quote begins, within the length a signature has. */
function endsSoon(lines: readonly string[], at: number, mayEnd: readonly boolean[]): boolean {
  for (let next = at + 1; next <= at + SIGNATURE_LINES_MAX; next++) {
    if (next >= lines.length || isQuoted(lines[next] ?? '')) return true;
    if (behindAttribution(lines, next, mayEnd) !== undefined || startsQuotedMail(lines, next)) return true;
  }
  for (let next = at + SIGNATURE_LINES_MAX + 1; next < lines.length; next++)
    if (lines[next]?.trim() !== '') return false;
  return true;
}
