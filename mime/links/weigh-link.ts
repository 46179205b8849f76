/**
 * What a link is for and how surely: by its own words, else by its sentence, else by its address, else by the line in
 * front of it. What a sentence says to those who did not ask for the mail outweighs the words of the link itself: "if
 * this was not you, reset your password" offers no reset that was asked for.
 */
import type { HtmlLink } from '#mime/html-content.ts';
import {
  addressMeaning,
  carriesCode,
  carriesSecret,
  carriesToken,
  carriesValue,
  isFile,
  isHelpPage,
  isSocial,
  showsRecord,
  signsInByItself,
} from './link-address.ts';
import { type LinkMeaning, type LinkWord, linkMeanings, mentions } from './link-words.ts';
import { type ActionWord, isAction, type MailRequest, soleAction } from './mail-request.ts';

type ActionKind = 'confirm' | 'sign_in' | 'reset';
type WeighedKind = ActionKind | 'other' | 'decline' | 'unsubscribe';

export interface WeighedLink {
  readonly kind: WeighedKind;
  readonly confidence: number;
}

const CONFIDENCE = {
  ownWords: 0.9,
  sentence: 0.8,
  lineBefore: 0.75,
  address: 0.7,
  earlier: 0.55,
  footer: 0.05,
  other: 0.2,
} as const;
const WITH_SUBJECT = 0.08;

export function weighLink(link: HtmlLink, url: URL, request: MailRequest): WeighedLink {
  const weighed = weighWords(link, url, request);
  if (carriesCode(url, request.code) && (weighed.kind === 'other' || wordOf(weighed.kind) !== undefined))
    return action(wordOf(weighed.kind) ?? soleAction(request) ?? 'confirm', CONFIDENCE.sentence, request);
  return wordOf(weighed.kind) !== undefined &&
    (isUnasked(link, url, weighed, request) ||
      isOfRecord(link, url, weighed, request) ||
      isOver(link) ||
      (request.isReport() && !carriesSecret(url.href)))
    ? { kind: 'other', confidence: CONFIDENCE.other }
    : weighed;
}

const wordOf = (kind: WeighedKind): ActionWord | undefined =>
  kind === 'sign_in' ? 'signIn' : kind === 'confirm' || kind === 'reset' ? kind : undefined;

/**
 * Whether the mail asks for something else: links to choose a new password in a mail that brings a code or a receipt are
 * for readers who are worried; beside a code only a link that carries something does the same as the code.
 */
function isUnasked({ after }: HtmlLink, url: URL, { kind }: WeighedLink, request: MailRequest): boolean {
  if (kind === 'reset' && !request.asksToReset()) return true;
  // Many mails say "log in" somewhere; those that bring a link for it say so in their subject, or how long it works.
  if (
    kind === 'sign_in' &&
    !(request.subject.has('signIn') || request.isUntitled) &&
    request.code === null &&
    !signsInByItself(url) &&
    !(carriesSecret(url.href) && mentions('secrecy', after.slice(0, VALIDITY_MAX_CHARACTERS)))
  )
    return true;
  return (request.code !== null && !carriesValue(url)) || isHelpPage(url) || isFile(url);
}
const VALIDITY_MAX_CHARACTERS = 80;

/**
 * "The link … has expired"; or words that ask or tell of a number, as titles of a forum do: "why is my code rejected?", "I
 * got the code 55120 twice".
 */
function isOver(link: HtmlLink): boolean {
  if (/[?？؟]\s*$|\d{4}/u.test(link.text) && !isAddress(link.text) && link.text.split(' ').length >= TITLE_FROM_WORDS)
    return true;
  return mentions('expired', link.text) || mentions('expired', surroundings(link).after);
}

/**
 * Whether the link shows something that is there already rather than doing what its words name: "log in to see your
 * invoice", "check the delivery", a page of settings in a mail that tells of a changed password.
 */
function isOfRecord(link: HtmlLink, url: URL, { kind, confidence }: WeighedLink, request: MailRequest): boolean {
  const word = wordOf(kind);
  if (word === undefined || request.subject.has(word)) return false;
  if (request.isNotice && kind !== 'confirm') return true;
  if (kind === 'reset') return false;
  // "Confirm", in a reminder of an appointment.
  if (kind === 'confirm' && request.isRecord && !request.titleConfirms && !mentions('purpose', link.text)) return true;
  // The general page of whom an order was placed with: "go to your account".
  if (kind === 'sign_in' && !carriesSecret(url.href) && request.isRecord) return true;
  const ownWords = confidence >= CONFIDENCE.ownWords;
  if (ownWords) return mentions('record', link.text) || (request.isRecord && !carriesSecret(url.href));
  if (request.isRecord || showsRecord(url)) return true;
  const { before, after, lineBefore, leads } = surroundings(link);
  return mentions('record', `${leads ? lineBefore : before}\n${isAddress(link.text) ? '' : link.text}\n${after}`);
}

function weighWords(link: HtmlLink, url: URL, request: MailRequest): WeighedLink {
  const shown = isAddress(link.text) ? '' : link.text;
  const said = linkMeanings(shown);
  const own = isTitle(shown, said, request) ? [] : said;
  const around = surroundings(link);
  if (own.some(({ word }) => word === 'unsubscribe')) return { kind: 'unsubscribe', confidence: CONFIDENCE.ownWords };
  const ruling = rulingWord(own);
  if (ruling === 'decline') return { kind: 'decline', confidence: CONFIDENCE.ownWords };
  if (forSomebodyElse(around, ruling, request)) return { kind: 'decline', confidence: CONFIDENCE.sentence };
  const asked = soleAction(request);
  const address = shownAddress(link.text, asked) ?? addressMeaning(url, asked);
  if (ruling === 'confirm' || ruling === 'reset' || ruling === 'signIn')
    return action(ruling, CONFIDENCE.ownWords, request);
  // Beside a code a button that only says "accept" is about something else.
  if (
    ruling === 'proceed' &&
    (request.code === null || asked !== undefined) &&
    request.asksToProceed() &&
    address !== 'unsubscribe' &&
    address !== 'decline'
  )
    return action(isAction(address) ? address : (soleAction(request) ?? 'confirm'), CONFIDENCE.sentence, request);
  if (ruling === 'footer' || isSocial(url)) return { kind: 'other', confidence: CONFIDENCE.footer };
  return fromSurroundings(around, shown, address, url, request);
}

function fromSurroundings(
  around: Surroundings,
  shown: string,
  address: LinkWord | undefined,
  url: URL,
  request: MailRequest,
): WeighedLink {
  const sentence = nearestWord(around.before, around.after);
  if (address === 'unsubscribe' || sentence === 'unsubscribe')
    return { kind: 'unsubscribe', confidence: CONFIDENCE.sentence };
  if (address === 'decline' || sentence === 'decline') return { kind: 'decline', confidence: CONFIDENCE.address };
  // A link with words of its own that say nothing is only what its address says: a logo, a product, a name.
  // A home page belongs to nobody's request.
  if (shown === '' && url.pathname === '/' && url.search === '' && url.hash === '')
    return { kind: 'other', confidence: CONFIDENCE.other };
  const pointsOut = shown === '' || POINTER.test(shown) || [...shown].length <= 3;
  // "You can verify devices automatically: https://docs.…" explains and asks for nothing.
  const explains = shown === '' && address === 'footer';
  if (pointsOut && isAction(sentence) && !explains) return action(sentence, CONFIDENCE.sentence, request);
  // A bare address inside a sentence of its own belongs to no other one.
  const ownSentence = shown === '' && !around.leads && /\p{L}[^:：]*$/u.test(around.before);
  const lineBefore = around.lineBefore === '' || ownSentence ? undefined : lastAction(around.lineBefore);
  if (pointsOut && sentence === undefined && lineBefore === 'unsubscribe')
    return { kind: 'unsubscribe', confidence: CONFIDENCE.lineBefore };
  if (pointsOut && sentence === undefined && lineBefore === 'decline' && !isAction(address))
    return { kind: 'decline', confidence: CONFIDENCE.lineBefore };
  // "To reset your password, visit:", where the page is one to sign in.
  if (
    address === 'signIn' &&
    pointsOut &&
    sentence === undefined &&
    isAction(lineBefore) &&
    /[:：]\s*$/u.test(around.lineBefore)
  )
    return action(lineBefore, CONFIDENCE.lineBefore, request);
  // "Log in to read it" leads to a page, and so does an address that carries nothing to know the reader by.
  const knows = pointsOut ? carriesToken(url) : carriesSecret(url.href);
  if (isAction(address) && sentence !== 'footer' && (knows || request.subject.has(address)))
    return action(address, lineBefore === address ? CONFIDENCE.lineBefore : CONFIDENCE.address, request);
  if (pointsOut && sentence === undefined && isAction(lineBefore))
    return action(lineBefore, CONFIDENCE.lineBefore, request);
  // "Here is your way in: https://…", in a mail whose subject names one thing to do.
  if (
    pointsOut &&
    sentence === undefined &&
    lineBefore === undefined &&
    carriesToken(url) &&
    HANDS_OVER.test(around.before)
  ) {
    const sole = soleAction(request);
    if (sole === 'signIn' || sole === 'reset') return action(sole, CONFIDENCE.earlier, request);
  }
  if (
    pointsOut &&
    sentence === undefined &&
    address === undefined &&
    (around.leads || (shown !== '' && request.code === null))
  ) {
    const earlier = lastAction(around.earlier) ?? (shown === '' ? undefined : soleAction(request));
    if (isAction(earlier)) return action(earlier, CONFIDENCE.earlier, request);
  }
  if (address === 'footer' || sentence === 'footer') return { kind: 'other', confidence: CONFIDENCE.footer };
  return { kind: 'other', confidence: CONFIDENCE.other };
}

const HANDS_OVER = /[:：]\s*$/u;

/** Words that only point at the link. */
const POINTER =
  /^[^\p{L}\p{N}]*(?:(?:please )?(?:click|tap|press|klick\w*|clique\w*|cliquez|haz clic|clicca|fai clic|klik\w*|klicka|kliknij|klikn\w*|kattints\w*|tıkla\w*|нажм\w*|натисн\w*)?\s?(?:on )?(?:here|this link|the link|link|below|hier|diesen link|hierauf|ici|sur ce lien|ce lien|aquí|en este enlace|este enlace|enlace|aqui|neste link|este link|qui|questo link|deze link|här|denna länk|länken|länk|her|dette link|lenken|lenke|linket|tästä|linkki|tutaj|ten link|zde|odkaz|sem|tu|ide|ovdje|aici|buraya|bağlantı|сюда|здесь|ссылк\w*|тут|за посиланням|тук|εδώ|σύνδεσμο\w*|button|knop|knappen|schaltfläche|bouton)?|כאן|לחצו כאן|לחץ כאן|هنا|اضغط هنا|انقر هنا|اینجا|اینجا کلیک کنید|यहाँ क्लिक करें|यहां क्लिक करें|यहाँ|คลิกที่นี่|ที่นี่|nhấn vào đây|tại đây|bấm vào đây|(?:klik )?di sini|こちら\S{0,8}|コチラ|ここ\S{0,8}|여기\S{0,8}|이곳|点击这里|点击此处\S{0,4}|此处|这里|點擊這裡|點此\S{0,4}|按此|請點此|(?:перейд[а-яіїєґ]*|перейти|пройд[а-яіїєґ]*)? ?(?:по|за) (?:этой |цим |данной |следующей )?(?:ссылке|посиланням)|(?:натисніть |натиснете )?тук|(?:πατήστε|κάντε κλικ)(?: στον σύνδεσμο)?(?: εδώ)?|(?:この|下記の?|以下の?)?リンク\S{0,6}|(?:이|다음|아래)? ?링크\S{0,8}|(?:点击|點擊)?(?:此|该|該|以下|下方|这个|這個)?(?:链接|連結)|(?:על |ב)?ה?קישור(?: הזה)?|(?:اضغط على )?(?:هذا )?(?:ال)?رابط(?: التالي)?|(?:روی )?(?:این )?(?:لینک|پیوند)(?: کلیک کنید)?|(?:इस )?लिंक(?: पर क्लिक करें)?|(?:คลิก)?ลิงก์(?:นี้|ด้านล่าง)?|(?:nhấn vào |bấm vào )?(?:liên kết|đường dẫn)(?: này)?)[^\p{L}\p{N}]*$/iu;

/** Redirects show the address they lead to as words of the link. */
function shownAddress(text: string, asked: LinkWord | undefined): LinkWord | undefined {
  const shown = isAddress(text) ? URL.parse(text.trim()) : null;
  return shown === null ? undefined : addressMeaning(shown, asked);
}

const isAddress = (text: string): boolean => /^\s*(?:https?:\/\/|www\.)\S*\s*$/i.test(text);

function action(word: 'confirm' | 'reset' | 'signIn', confidence: number, { subject }: MailRequest): WeighedLink {
  const kind = word === 'signIn' ? 'sign_in' : word;
  return { kind, confidence: Math.min(0.99, confidence + (subject.has(word) ? WITH_SUBJECT : 0)) };
}

/** Words inside a long text are those of a headline, not of a button, unless it says to click or the subject agrees. */
function isTitle(shown: string, said: readonly LinkMeaning[], { subject }: MailRequest): boolean {
  if (shown.split(' ').length < TITLE_FROM_WORDS || mentions('enter', shown) || CLICK.test(shown) || POLITE.test(shown))
    return false;
  return said.every(
    ({ word, from, to }) => from > EDGE_CHARACTERS && to < shown.length - 1 && isAction(word) && !subject.has(word),
  );
}
const TITLE_FROM_WORDS = 5;
const EDGE_CHARACTERS = 3;
/** In front of a verb. */
const POLITE = /^(?:please|yes|yes, |bitte|veuillez|por favor|per favore|alsjeblieft|пожалуйста|lütfen)[ ,]/iu;
const CLICK =
  /click|klick|clic|tap\b|here|link|hier|ici|aqu[ií]|qui\b|klik|här|her\b|her$|täst|tutaj|zde|tıkla|ссылк|нажм|натисн/iu;

/** Of several words in a link the verb rules: the first one, or the last where the language has it there. */
function rulingWord(own: readonly LinkMeaning[]): LinkWord | undefined {
  const strong = own.filter(({ word }) => word !== 'footer' && word !== 'proceed');
  const [first] = strong;
  const last = strong.at(-1);
  if (first === undefined || last === undefined)
    return own.find(({ word }) => word === 'proceed')?.word ?? own[0]?.word;
  return last.verbLast && last !== first ? last.word : first.word;
}

interface Surroundings {
  /** The part of its sentence in front of the link, and the part behind it. */
  readonly before: string;
  readonly after: string;
  /** The sentence before that one. */
  readonly lineBefore: string;
  /** What stands on one line with that one. */
  readonly paragraph: string;
  /** All that is known in front of it, up to another link. */
  readonly earlier: string;
  /** The link begins a line or a sentence. */
  readonly leads: boolean;
}

const SENTENCE_END = /[.!?。!?؟।](?=\s|$)|[。!?]|[\n\t\u2029]/gu;

function surroundings({ before, after }: HtmlLink): Surroundings {
  const own = before.slice(lastEnd(before));
  const end = after.search(/[.!?。!?؟।](?:\s|$)|[。!?\n\t\u2029·•|]/u);
  const alone = !/[\p{L}\p{N}]/u.test(own);
  const trimmed = before.slice(0, before.length - own.length).replace(/[\s\u2029]+$/u, '');
  const blocked = /\u2029\s*$/u.test(before.slice(0, before.length - own.length));
  return {
    before: alone ? '' : own,
    after: end === -1 ? after : after.slice(0, end),
    leads: alone,
    earlier: before.slice(before.lastIndexOf('\u2029') + 1),
    paragraph: blocked ? '' : trimmed.slice(Math.max(trimmed.lastIndexOf('\n'), trimmed.lastIndexOf('\u2029')) + 1),
    lineBefore: !blocked ? trimmed.slice(lastEnd(trimmed.replace(/[.!?。!?؟।\s]+$/u, ''))) : '',
  };
}

function lastEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(SENTENCE_END)) end = match.index + match[0].length;
  return end;
}

/** The word of a sentence that is nearest to its link; those in front count before those behind. */
function nearestWord(before: string, after: string): LinkWord | undefined {
  return lastAction(before) ?? ruledBy(linkMeanings(after));
}

const lastAction = (text: string): LinkWord | undefined => ruledBy(linkMeanings(text).toReversed());

const ruledBy = (words: readonly LinkMeaning[]): LinkWord | undefined =>
  words.find(({ word }) => word === 'unsubscribe' || word === 'decline')?.word ??
  // "To activate, go to": going there is how, not what for.
  words.find(({ word }) => word === 'confirm' || word === 'reset')?.word ??
  words.find(({ word }) => word !== 'proceed' && word !== 'footer')?.word ??
  words.find(({ word }) => word === 'footer')?.word;

/** Whether the link is for people who did not ask for what the mail is about. */
function forSomebodyElse(
  { before, after, lineBefore, paragraph, leads }: Surroundings,
  ruling: LinkWord | undefined,
  { subject }: MailRequest,
): boolean {
  if (before !== '' && mentions('notMe', before) && !mentions('ignore', before)) return true;
  if (before !== '' && after !== '' && mentions('notMe', after) && !mentions('ignore', after) && !isAction(ruling))
    return true;
  // "If this was not you, somebody may know your password. Change it at once:"
  if (
    !subject.has('reset') &&
    (ruling ?? nearestWord(before, after) ?? lastAction(lineBefore)) === 'reset' &&
    mentions('notMe', paragraph) &&
    !mentions('ignore', paragraph)
  )
    return true;
  if (lineBefore === '' || ruling === 'confirm' || mentions('ignore', lineBefore) || !mentions('notMe', lineBefore))
    return false;
  const kind = ruling ?? (leads ? undefined : nearestWord(before, after));
  if (kind === 'confirm' || (kind !== undefined && subject.has(kind))) return false;
  if (!leads) return kind !== 'footer';
  return (
    /[:?؟:?]\s*$/u.test(lineBefore) ||
    ruling === 'reset' ||
    linkMeanings(lineBefore).some(({ word }) => word === 'decline' || word === 'reset')
  );
}
