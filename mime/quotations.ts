/**
 * The parts of a text that its writer took from other mail: lines marked as quotations, and everything below the head
 * of a mail that was forwarded or quoted without marks. Pure, line by line, with bounded patterns.
 */

/** Longer lines are no head of a mail. */
const HEAD_LINE_MAX_CHARACTERS = 300;
const HEAD_LINES_MAX = 12;

const QUOTED = /^\s*[>＞]/;
/** What a reader shows as the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Invisible characters, which would hide a mark from the patterns and not from a reader. */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu;
/** `-------- Forwarded message --------`, `-----Ursprüngliche Nachricht-----`: a title between dashes, in any language. */
const TITLED_RULE = /^[\s*]*[-_=]{2,}[\s*]*\p{L}[^\n]{1,80}?[-_=]{2,}[\s*:]*$/u;
/** The title alone, as some clients write it. */
const FORWARDED =
  /^[\s*_=-]*(?:begin(?:n)? (?:of )?forwarded message|forwarded (?:message|by|from|mail)|fwd? message|(?:anfang der )?weitergeleitete[nr]? (?:nachricht|e-?mail)|début du message (?:réexpédié|transféré)|message (?:transféré|réexpédié)|(?:inicio del )?mensaje reenviado|(?:inizio )?messaggio inoltrato|(?:início da )?mensagem (?:encaminhada|reencaminhada)|(?:begin )?doorgestuurd bericht|vidarebefordrat (?:meddelande|brev)|videresendt (?:melding|besked|meddelelse)|edelleenlähetetty viesti|(?:przekazana|przesłana) wiadomość|переад?ресованное сообщение|пересылаемое сообщение|пересланное сообщение|iletilen (?:ileti|mesaj)|转发的?(?:邮件|信息)|轉寄的?郵件|転送(?:された)?メッセージ|전달된 메시지)/iu;
/** The line above a quotation: `On Mon, Jan 5, Ann <a@b.c> wrote:`. */
const ATTRIBUTION =
  /(?:wrote|writes|said|écrit|a écrit|escribió|scritto|escreveu|schrieb\b.{0,80}|schreef\b.{0,80}|skrev\b.{0,80}|napisał(?:\(a\)|a)?|pisze|kirjoitti|пишет|писал(?:\(а\)|а)?|yazdı|写道|のメッセージ|작성)\s?[:：]$/iu;
const HEAD_FIELD = /^[\s*]*\p{L}[\p{L} .-]{0,20}[*\s]?[:：]\*?/u;
const AUTHOR_FIELD =
  /^[\s*]*(?:from|von|de|van|da|od|от|från|fra|lähettäjä|kimden|gönderen|发件人|寄件者|差出人|보낸사람|sender)[*\s]?[:：]/iu;
const SUBJECT_FIELD =
  /^[\s*]*(?:subject|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|aihe|temat|тема|konu|主题|主旨|件名|제목)[*\s]?[:：]\*?\s*(.*)$/iu;

/** @returns lines taken from other mail, without heads; the subject in a head is one of them */
export function quotedLines(text: string): string[] {
  const lines = text.replace(INVISIBLE, '').split(LINE_BREAK);
  const quoted: string[] = [];
  let below = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (QUOTED.test(line)) {
      quoted.push(line);
      continue;
    }
    const head = headAt(lines, at);
    if (head !== undefined) {
      quoted.push(...head.subjects);
      at = head.end - 1;
      below = true;
      continue;
    }
    if (below) quoted.push(line);
  }
  return quoted.filter((line) => line.trim() !== '');
}

interface Head {
  /** Behind its last line. */
  readonly end: number;
  readonly subjects: readonly string[];
}

/** The head of a mail that begins at this line; what follows is its text. */
function headAt(lines: readonly string[], at: number): Head | undefined {
  const line = lookedAt(lines[at]);
  if (line === '') return undefined;
  const isForwarded = FORWARDED.test(line);
  if (isForwarded || TITLED_RULE.test(line)) {
    const fields = fieldsFrom(lines, at + 1);
    // A writer puts titles between dashes too.
    return isForwarded || fields.count >= 2 ? { ...fields, end: Math.max(fields.end, at + 1) } : undefined;
  }
  if (AUTHOR_FIELD.test(line)) {
    const fields = fieldsFrom(lines, at);
    const isOfMail = lines.slice(at, fields.end).some((each) => each.includes('@') || SUBJECT_FIELD.test(each.trim()));
    return fields.count >= 3 && isOfMail ? fields : undefined;
  }
  if (!endsAttribution(line)) return undefined;
  const next = nextSaid(lines, at + 1);
  // Below a quotation with marks the writer goes on.
  return next < lines.length && QUOTED.test(lines[next] ?? '') ? undefined : { end: at + 1, subjects: [] };
}

/** Few lines end so; only these are matched further. */
const endsAttribution = (line: string): boolean => /[:：]$/.test(line) && ATTRIBUTION.test(line.slice(-120));

function fieldsFrom(lines: readonly string[], from: number): Head & { readonly count: number } {
  let end = nextSaid(lines, from);
  let count = 0;
  const subjects: string[] = [];
  while (end < lines.length && count < HEAD_LINES_MAX) {
    const line = lookedAt(lines[end]);
    if (line === '' || !HEAD_FIELD.test(line)) break;
    const subject = SUBJECT_FIELD.exec(line)?.[1];
    if (subject !== undefined) subjects.push(subject);
    count++;
    end++;
  }
  return { end: count === 0 ? from : end, count, subjects };
}

const lookedAt = (line: string | undefined): string =>
  line === undefined || line.length > HEAD_LINE_MAX_CHARACTERS ? '' : line.trim();

function nextSaid(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && at < from + 3 && lines[at]?.trim() === '') at++;
  return at;
}

/** What a quotation must be part of: the texts of mail that may be quoted. */
export interface Quotable {
  /** Letters and digits of all texts, in their order. */
  readonly letters: string;
  /** The texts as they are, for addresses of links. */
  readonly raw: string;
}

/** @param texts subjects, texts, and HTML */
export const quotable = (texts: readonly string[]): Quotable => ({
  letters: texts.map(lettersOf).join(' '),
  raw: texts.map((text) => text.replaceAll('&amp;', '&')).join('\n'),
});

/**
 * Whether all quoted lines are in the texts. Clients wrap lines, mark them and change signs, so letters and digits
 * count; links count as they are written. Lines that take too long to find count as not found.
 */
export function areQuotations(lines: readonly string[], { letters, raw }: Quotable): boolean {
  const [ofLetters, ofLinks] = [new Finder(letters), new Finder(raw)];
  return lines.every(
    (line) =>
      (line.match(LINK) ?? []).every((link) => ofLinks.find(link.replaceAll('&amp;', '&'))) &&
      ofLetters.find(lettersOf(line)),
  );
}

/** Longer texts are looked for in pieces: a search takes the product of both lengths where much of both is the same. */
const PIECE_CHARACTERS = 64;
/** Of all searches in one text. */
const SEARCHED_MAX_CHARACTERS = 32 * 1_048_576;

/** Looks for texts in another one, each first behind the last one: there it usually is. */
class Finder {
  readonly #text: string;
  #at = 0;
  #left = SEARCHED_MAX_CHARACTERS;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether it is in the text, or all its pieces are. */
  find(wanted: string): boolean {
    for (let from = 0; from < wanted.length; from += PIECE_CHARACTERS) {
      const piece = wanted.slice(from, from + PIECE_CHARACTERS);
      const found = this.#search(piece, this.#at) ?? this.#search(piece, 0);
      if (found === undefined) return false;
      this.#at = found + piece.length;
    }
    return true;
  }

  #search(piece: string, from: number): number | undefined {
    if (this.#left <= 0) return undefined;
    const found = this.#text.indexOf(piece, from);
    this.#left -= (found < 0 ? this.#text.length : found) - from;
    return found < 0 ? undefined : found;
  }
}

const LINK = /\bhttps?:\/\/[^\s<>"')\]]{1,2000}/gi;
/** Clients write these where an image was. */
const IMAGE_NOTE = /\[(?:cid|image):[^\]\n]{0,200}\]/gi;

const lettersOf = (text: string): string =>
  text
    .replace(IMAGE_NOTE, '')
    .replace(LINK, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
