/**
 * The one-time code in a mail, for a program that signs in by mail. Pure.
 *
 * Mails of this kind say "code" in some language and hold numbers that are none: years, prices, telephones, orders,
 * addresses. So everything that looks like a code is a candidate, what its surroundings explain as something else is
 * none, and the rest is weighed: how near the word for it is, whether it stands alone, how long it is.
 */

export interface CodeSource {
  readonly subject: string;
  /** Plain text, made from the HTML where there is no other. */
  readonly text: string;
}

/** Characters of the text that are looked at; codes stand at the beginning. */
const LOOKED_AT_MAX_CHARACTERS = 20_000;
const LINE_MAX_CHARACTERS = 1_000;
/** Lines above a candidate whose words count for it. */
const LINES_ABOVE = 3;
/** Characters beside a candidate that are looked at, and candidates of a mail. */
const BESIDE_CHARACTERS = 120;
const CANDIDATES_MAX = 200;

/** Words for it in the languages such mails come in. Those of scripts without word boundaries stand at the end. */
const CODE_WORD = new RegExp(
  [
    String.raw`(?<!\p{L})(?:one[- ]?time|otp|2fa|mfa|pass ?code|pin|tan|token|verif\p{L}*|verific\p{L}*|codes?|códig\p{L}*|codig\p{L}*|codic\p{L}*|k[oó]d\p{L}*|koodi\p{L}*|cod|kode\p{L}*|\p{L}*code|\p{L}*codes|\p{L}*kod|\p{L}*kode|\p{L}*koodi|koda|kodas|clave|contraseñ\p{L}*|senha|einmal\p{L}*|best[aä]tigung\p{L}*|kennwort|passwor[dt]|mot de passe|wachtwoord|hasł\p{L}*|heslo|парол\p{L}*|код\p{L}*|κωδικ\p{L}*|doğrulama|şifre\p{L}*|mã|רוד|קוד|رمز|كود|رمزك|कोड|ओटीपी)(?!\p{L})`,
    '验证码|驗證碼|校验码|动态码|動態碼|确认码|確認碼|認証番号|コード|ワンタイム|暗証番号|인증번호|인증 ?코드|확인 ?코드|코드|รหัส',
  ].join('|'),
  'iu',
);

/** What follows a number that is no code. */
const UNIT_BEHIND =
  /^\s?(?:%|°|[€$£¥₹₽zł]|usd|eur|gbp|chf|jpy|kr\b|(?:sec|min|hour|hr|day|week|month|year|minut|stund|tag|jahr|heure|jour|hora|día|dia|ore|giorn|uur|dag|минут|час|дн|分|秒|時間|小时|分钟|日|年|월|분|시간|people|users?|items?|points?|punkte|km|kg|mb|gb|kb|px|x\d)\p{L}*)/iu;

/** What stands before a number of another kind. */
const OTHER_BEFORE =
  /(?:[€$£¥₹₽]|#|№|(?<!\p{L})(?:usd|eur|gbp|no|nr|nº|n°|order|bestellung|bestellnummer|commande|pedido|ordine|invoice|rechnung|rechnungsnummer|facture|factura|fattura|ticket|case|reference|ref|tracking|sendung\p{L}*|customer|kundennummer|kunden-?nr|account|konto|kontonummer|ending in|ends in|ending|endet auf|tel|phone|telefon|téléphone|mobile|fax|call|suite|pull request|request|issue|line|commit|page|chapter|step|apt|box|po box|zip|plz|room|flight|flug|version|build|©|copyright|\(c\)|since|seit|depuis|art(?:icle|ikel)?|section|iso|rfc|port|error|http|status|abn|acn|vat|ust-?id\p{L}*|hrb|siret|ein)[\s.:#-]*(?:number|nummer|id|no|nr|code)?[.:#]?)\s*$/iu;

interface Candidate {
  readonly code: string;
  readonly score: number;
}

interface Pattern {
  readonly form: RegExp;
  readonly letters: boolean;
}

/** A number is taken whole or not at all: nothing that belongs to it may stand beside it. */
const NO_SPACE_SCRIPTS = String.raw`(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])`;
const LETTER = String.raw`${NO_SPACE_SCRIPTS}\p{L}`;
const BEFORE = String.raw`(?<!${LETTER}|[\p{N}_+/@=&%\\]|\p{N}[-.,:'’]|${LETTER}[-.'’]|\p{N}[ ]|[€$£¥₹#])`;
const BEHIND = String.raw`(?!${LETTER}|[\p{N}_@/%=\\€$£¥]|[-.:'’][\p{L}\p{N}]|,\d{2,3}(?!\d)|[ ]\p{N})`;

const PATTERNS: readonly Pattern[] = [
  // 123 456 · 123-456 · 1234 5678 · 12-34-56 · 1 2 3 4 5 6
  {
    form: new RegExp(
      `${BEFORE}(?:\\d{3}[-–  ]\\d{3}|\\d{4}[-–  ]\\d{4}|\\d{2}[-–  ]\\d{2}[-–  ]\\d{2}|\\d(?:[  ]\\d){3,7})${BEHIND}`,
      'gu',
    ),
    letters: false,
  },
  // 123456, also behind the mark of one sender, as in G-123456
  { form: new RegExp(`(?:(?<![\\p{L}\\p{N}])[A-Z]{1,3}-|${BEFORE})(\\d{4,10})${BEHIND}`, 'gu'), letters: false },
  { form: new RegExp(`${BEFORE}(?:[A-Z0-9]{3,5}-[A-Z0-9]{3,5}|[A-Z0-9]{4,10})${BEHIND}`, 'gu'), letters: true },
  // Lower case only as one block with digits.
  { form: new RegExp(`${BEFORE}(?=[a-z0-9]*\\d)(?=[a-z0-9]*[a-z])[a-z0-9]{5,8}${BEHIND}`, 'gu'), letters: true },
];

const LINK = /(?:https?:\/\/|www\.)\S+/giu;
const EMAIL = /[^\s@]{1,64}@[^\s@]{1,255}/gu;
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;

/** The code, as it is to be typed: without the separators that help to read it. Null where there is none. */
export function oneTimeCode({ subject, text }: CodeSource): string | null {
  const lines = plain(text.slice(0, LOOKED_AT_MAX_CHARACTERS))
    .split('\n')
    .map((line) => line.trim().slice(0, LINE_MAX_CHARACTERS))
    .filter((line) => line !== '');
  const title = plain(subject.slice(0, LINE_MAX_CHARACTERS)).replaceAll('\n', ' ').slice(0, LINE_MAX_CHARACTERS);
  const aboutCode = CODE_WORD.test(title) || lines.some((line) => CODE_WORD.test(line));
  if (!aboutCode) return null;
  const found = [
    ...candidatesOf(title, '', CODE_WORD.test(title) ? 2 : 0),
    ...lines.flatMap((line, i) =>
      candidatesOf(line, lines.slice(Math.max(0, i - LINES_ABOVE), i).join(' '), CODE_WORD.test(title) ? 1 : 0),
    ),
  ];
  // The same code in the subject and in the text is surer than another one.
  const totals = new Map<string, number>();
  for (const { code, score } of found.slice(0, CANDIDATES_MAX)) {
    const before = totals.get(code);
    totals.set(code, before === undefined ? score : Math.max(before, score) + 1);
  }
  let best: Candidate | undefined;
  for (const [code, score] of totals) if (best === undefined || score > best.score) best = { code, score };
  return best !== undefined && best.score >= SURE_FROM ? best.code : null;
}

const SURE_FROM = 4;

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(LINK, ' ')
    .replace(EMAIL, ' ')
    .replace(/[*_~`|>]+/g, ' ')
    .replace(/[\t\u00a0\u2000-\u200a\u202f\u3000]/g, ' ');

function candidatesOf(line: string, above: string, bonus: number): Candidate[] {
  const candidates: Candidate[] = [];
  const taken: [number, number][] = [];
  const wordAbove = CODE_WORD.test(above); // once: a line may be made of candidates
  for (const { form, letters } of PATTERNS)
    for (const match of line.matchAll(form)) {
      const [whole] = match;
      const [start, end] = [match.index, match.index + whole.length];
      if (taken.some(([from, to]) => start < to && end > from)) continue;
      const given = match[1] ?? whole;
      const score = scoreOf(given, line.slice(0, start), line.slice(end), wordAbove, letters);
      if (score === undefined) continue;
      taken.push([start, end]);
      candidates.push({ code: letters ? given : given.replace(/\D/g, ''), score: score + bonus });
    }
  return candidates;
}

/** Undefined: it is something else. */
function scoreOf(
  given: string,
  before: string,
  behind: string,
  wordAbove: boolean,
  letters: boolean,
): number | undefined {
  const digits = given.replace(/\D/g, '');
  const alone = /^[\s\p{P}\p{S}]*$/u.test(before) && /^[\s\p{P}\p{S}]*$/u.test(behind);
  // A word of code between the other thing and the number counts for the code: "code for order: 1234".
  if (OTHER_BEFORE.test(before.slice(-BESIDE_CHARACTERS)) || UNIT_BEHIND.test(behind)) return undefined;
  if (letters && (digits === '' ? !isSpelledCode(given, before) : digits.length === given.length)) return undefined;
  const near = nearness(before, behind);
  if (near === 0 && !(alone && (wordAbove || before + behind === ''))) return wordAbove && !letters ? 2 : undefined;
  let score = near + (alone ? 3 : 0) + (wordAbove ? 2 : 0);
  if (!letters) {
    score += digits.length === 6 ? 2 : digits.length >= 4 && digits.length <= 8 ? 1 : -1;
    if (/^(?:19|20)\d\d$/.test(given)) score -= near === 5 ? 1 : 4;
    if (/^(?:19|20)\d{6}$/.test(given)) score -= 2;
  } else score += /^[A-Z0-9]{6}$|-/.test(given) ? 1 : 0;
  return score;
}

/** Capitals without a digit are a word, unless "code:" stands right before them. */
const isSpelledCode = (given: string, before: string): boolean =>
  !CODE_WORD.test(given) &&
  /^[A-Z]{4,8}(?:-[A-Z]{4,5})?$/.test(given) &&
  /[:：]\s*$/u.test(before) &&
  CODE_WORD.test(before);

/** 5: the word is right before it, 4: before a colon, 3: in the same sentence, 1: elsewhere in the line. */
function nearness(lineBefore: string, lineBehind: string): number {
  const before = lineBefore.slice(-BESIDE_CHARACTERS);
  const behind = lineBehind.slice(0, BESIDE_CHARACTERS);
  const sentenceBefore = before.slice(Math.max(before.lastIndexOf('. ') + 1, before.lastIndexOf('! ') + 1));
  const linked = /^(.*?)(?:\s(?:is|lautet|ist|est le|est|es|è|é|är|er|to))?\s*[:：=]?\s*$/iu.exec(sentenceBefore)?.[1];
  if (linked !== undefined && ENDS_WITH_CODE_WORD.test(linked.slice(-WORD_MAX_CHARACTERS))) return 5;
  if (/[:：]\s*$/u.test(before) && CODE_WORD.test(sentenceBefore.slice(-60))) return 4;
  const [sentenceBehind = ''] = behind.split(/[.!?。]\s/u);
  if (CODE_WORD.test(sentenceBefore) || CODE_WORD.test(sentenceBehind)) return 3;
  return CODE_WORD.test(before) || CODE_WORD.test(behind) ? 1 : 0;
}

const WORD_MAX_CHARACTERS = 40;
const ENDS_WITH_CODE_WORD = new RegExp(`(?:${CODE_WORD.source})$`, 'iu');
