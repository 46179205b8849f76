/**
 * What a mail itself says.
 *
 *     replyText       without quoted mail and without the signature, as far as these can be recognized
 *     unquotedText    without quoted mail
 *     ownText         without quoted mail, unless it is forwarded: a forwarded mail is what its sender wants to show. Codes
 *                     and links of quoted mail are those of another mail
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

/** The words of the line above a whole mail that was not marked as a quote; without dashes, in NFC. */
const ORIGINAL_MESSAGE = new RegExp(
  `^(?:${[
    'original[- ]?(?:message|mail|e-?mail)', // English, and programs that do not translate it
    'ursprüngliche (?:nachricht|e-?mail)|original-?\\s?nachricht', // German
    "message (?:d['’]origine|original)", // French
    'mensaje original', // Spanish
    'messaggio originale', // Italian
    'mensagem original', // Portuguese
    'oorspronkelijk bericht|origineel bericht', // Dutch
    'ursprungligt meddelande|original-?meddelande', // Swedish
    'opprinnelig (?:melding|e-?post)|original(?:e)? ?melding', // Norwegian
    'oprindelig (?:meddelelse|besked|mail)|original(?:e)? ?meddelelse', // Danish
    'alkuperäinen viesti', // Finnish
    'oryginalna wiadomość|wiadomość oryginalna', // Polish
    'původní (?:zpráva|e-?mail)|pôvodná správa', // Czech, Slovak
    'eredeti üzenet', // Hungarian
    'mesaj(?:ul)? original', // Romanian
    '(?:исходное|оригинальное|первоначальное) сообщение', // Russian
    '(?:початкове|вихідне|оригінальне) повідомлення', // Ukrainian
    'αρχικό μήνυμα', // Greek
    '(?:özgün|or[iİ]j[iİ]nal|as[ıI]l) (?:[iİ]let[iİ]|mesaj|e-?posta)', // Turkish, whose capital i has a dot
    '原始(?:邮件|郵件|信件|訊息|消息)|(?:邮件|郵件)原件', // Chinese
    '(?:元の|オリジナル[ ・]?)(?:メッセージ|メール)', // Japanese
    '원본 ?(?:메시지|메일)', // Korean
    'הודעה מקורית|الرسالة الأصلية', // Hebrew, Arabic
  ].join('|')})$`,
  'iu',
);
/** Words of the line above a forwarded mail: that mail is what the writer says. */
const FORWARDED_MESSAGE =
  /forward|weitergeleitet|weiterleitung|transf[ée]r|réexpédi|reenviad|inoltrat|doorgestuurd|vidarebefordra|videresend|encaminhad|przekazan|välitet|edelleen|přeposl|preposl|továbbít|пересыл|пересл|переслан|[iİ]let(?:[iİ]l|me)|转发|轉寄|轉發|転送|전달/iu;
/** A line of dashes or other rules, also with words between them; two characters at least. */
const DASHED = /^[-–—─_*=]{2,}/u;
const DASHES_AROUND = /^[-–—─_*=\s]+|[-–—─_*=\s:]+$/gu;

/** Names of the fields that clients put above a quoted mail, in the languages above. */
const labels = (names: string): RegExp =>
  new RegExp(`^\\*{0,2}(?:${names.split(' · ').join('|')})\\s?\\*{0,2}\\s?[:：]`, 'u');
const QUOTED_FROM = labels(
  'From · Von · Absender · De · Expéditeur · Remitente · Remetente · Da · Mittente · Van · Afzender · Från · Avsändare · Fra · Avsender · Afsender · Lähettäjä · Od · Nadawca · Odesílatel · Odosielateľ · Feladó · De la · От · От кого · Отправитель · Від · Відправник · Από · Kimden · Gönderen · 发件人 · 寄件者 · 寄件人 · 差出人 · 送信者 · 送信元 · 보낸 ?사람 · 발신 · 발신자 · מאת · من',
);
const QUOTED_FIELD = labels(
  [
    'Sent · Date · To · Cc · CC · Subject · Reply-To · Importance',
    'Gesendet · Datum · An · Kopie · Betreff',
    'Envoyé · Envoyée? le · À · Objet',
    'Enviado · Enviado el · Fecha · Para · Asunto',
    'Inviato · Data · A · Oggetto',
    'Enviada? em · Enviada · Assunto',
    'Verzonden · Aan · Onderwerp',
    'Skickat · Till · Kopia · Ämne',
    'Sendt · Dato · Til · Kopi · Emne',
    'Lähetetty · Päiväys · Päivämäärä · Pvm · Vastaanottaja · Kopio · Aihe',
    'Wysłano · Wysłane · Wysłany · Do · DW · Temat',
    'Odesláno · Odeslané · Komu · Předmět · Odoslané · Predmet · Dátum',
    'Elküldve · Címzett · Másolatot kap · Tárgy · Trimis · Către · Subiect',
    'Отправлено · Отправлен · Дата · Кому · Копия · Тема · Надіслано · Копія',
    'Στάλθηκε · Ημερομηνία · Προς · Κοιν · Θέμα',
    'Gönderildi · Gönderme Tarihi · Gönderilme Tarihi · Tarih · Kime · Bilgi · Konu',
    '发送时间 · 发送日期 · 日期 · 时间 · 收件人 · 抄送 · 主题 · 寄件日期 · 傳送時間 · 傳送日期 · 收件者 · 副本 · 主旨',
    '送信日時 · 日時 · 日付 · 宛先 · 件名',
    '보낸 ?날짜 · 날짜 · 보낸 시간 · 받는 ?사람 · 참조 · 제목',
    'תאריך · נשלח · אל · נושא · תاريخ · تم الإرسال · إلى · الموضوع',
  ].join(' · '),
);
/** With what such mail begins: a rule, or a few words with a colon behind them. */
const QUOTED_MAIL_BEGINS = /^\s*(?:[-–—─_*=]|\p{L}[\p{L}\p{M} ]{0,16}[:：])/u;
/** Lines that may belong to its header. */
const QUOTED_HEADER_LINES_MAX = 7;
const SIGNATURE =
  /^(?:--|Sent from my? .+|Sent via .+|Get Outlook for .+|Gesendet von .+|Von meinem .+ gesendet|Envoyé (?:depuis|de mon|à partir de) .+|Télécharger Outlook pour .+|Enviado desde .+|Inviato da .+|Verzonden vanaf .+|Verstuurd vanaf .+|Sendt fra .+|(?:[A-Za-z]{1,10} )?(?:regards|wishes|cordialement)[,!.]?|Cheers[,!]?)$/i;

/** @param text with LF as line end */
const replyText = (text: string): string => textWithout(text, true);

/** Text without quoted mail alone. @param text with LF as line end */
const unquotedText = (text: string): string => textWithout(text, false);

function textWithout(text: string, signature: boolean): string {
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
    if (signature && !inSignature && isSignature(line) && endsSoon(lines, at, mayEnd)) inSignature = true;
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

/** Whether a mail begins here that was not marked as a quote: its header, a line above it, or both. */
function startsQuotedMail(lines: readonly string[], at: number): boolean {
  if (!QUOTED_MAIL_BEGINS.test(lines[at] ?? '')) return false;
  const line = fieldLine(lines[at]);
  if (line === '') return false;
  if (DASHED.test(line) && !labelled(line)) {
    const words = line.replace(DASHES_AROUND, '');
    if (ORIGINAL_MESSAGE.test(words)) return true;
    // Whatever the line says: the header below it shows what it is.
    return !FORWARDED_MESSAGE.test(words) && hasQuotedHeader(lines, firstSaid(lines, at + 1));
  }
  if ((lines[at - 1]?.trim() ?? '') !== '' || !QUOTED_FROM.test(line)) return false;
  return !FORWARDED_MESSAGE.test(lastSaid(lines, at - 1)) && hasQuotedHeader(lines, at);
}

/** A line as it is compared. */
const fieldLine = (line: string | undefined): string => looked(line)?.normalize('NFC') ?? '';
const labelled = (line: string): boolean => QUOTED_FROM.test(line) || QUOTED_FIELD.test(line);

/** From and two further fields, one of them at once. */
function hasQuotedHeader(lines: readonly string[], at: number): boolean {
  const block = lines.slice(at, at + QUOTED_HEADER_LINES_MAX).map(fieldLine);
  if (!labelled(block[0] ?? '')) return false;
  const header = block.filter(labelled);
  return header.length >= 3 && header.some((line) => QUOTED_FROM.test(line));
}

/** The last line of a few above with words that could be a title; empty: there is none. */
function lastSaid(lines: readonly string[], from: number): string {
  for (let at = from; at >= 0 && at > from - ATTRIBUTION_LINES_MAX; at--) {
    const line = fieldLine(lines[at]);
    if (line !== '') return DASHED.test(line) || /[:：]$/.test(line) ? line : '';
  }
  return '';
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

/** How subjects of answers and of forwarded mail begin, after the name of a list and other such marks. */
const MARKS = /^(?:\s*\[[^\]]{1,60}\])*\s*/u;
const ANSWER =
  /^(?:re|aw|antw?|antwort|sv|vs|res|r|rif|odp|ynt|yan|vá|bls|atb|ref|回复|答复|回覆|答覆|返信|답장|회신|ответ|відп|σχετ|απ|תגובה|השב|رد|पुनः)(?:\s?\[\d+\])?\s?[:：]/iu;
const FORWARD =
  /^(?:fwd?|forwarded|weitergeleitet|transféré|reenviado|inoltrato|encaminhad[oa]|doorgestuurd|vidarebefordrat|videresendt?|välitetty|przekazano|přeposláno|wg|tr|rv|enc|i|doorst|vb|vl|vid|pd|přep|ilt|továbbítás|transf|转发|轉寄|轉發|転送|전달|пересл|fw|προώθ|הועבר|إعادة توجيه)\s?[:：]/iu;
/** The line above a forwarded mail. */
const FORWARDED_MAIL =
  /^(?:-{2,12} ?|begin )(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht|przekazana wiadomość|vidarebefordrat meddelande|videresendt? (?:besked|melding)|välitetty viesti|přeposlaná zpráva|továbbított levél|mesaj redirecționat|iletilen mesaj|пересылаемое сообщение|переслане повідомлення|转发的?邮件|轉寄的?郵件|転送されたメッセージ|전달된 메시지|הודעה שהועברה|رسالة معاد توجيهها)/imu;
/** Longer text of a mail is not looked at for codes. */
const LOOKED_AT_CHARACTERS = 65_536;

/** The text itself where it quotes nothing. */
export function ownText(subject: string, text: string): string {
  const title = subject.replace(MARKS, '');
  if (FORWARD.test(title)) return text;
  const looked = text.slice(0, LOOKED_AT_CHARACTERS);
  const isAnswer = ANSWER.test(title);
  if (!isAnswer && FORWARDED_MAIL.test(looked)) return text;
  const own = unquotedText(looked);
  if (own === '') return isAnswer ? '' : text;
  // Lines with a mark alone may be set off by the author: quoted mail has a line above it that says whose it is.
  const unmarked = looked.split('\n').filter((line) => !line.startsWith('>'));
  return isAnswer || own.length < unmarked.join('\n').trim().length ? own : text;
}

/** What lies behind this is in `text` alone. */
export const REPLY_MAX_CHARACTERS = 65_536;

/** The text without quoted mail and signature, as far as these can be recognized; the whole text if nothing else is left. */
export function extractReply(text: string): string {
  const looked = text.slice(0, REPLY_MAX_CHARACTERS).toWellFormed();
  return replyText(looked) || looked.trim();
}
