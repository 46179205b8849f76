/** What a mail as a whole asks for, by its subject and its beginning: only links for that are ones to follow. */
import { type LinkWord, linkMeanings, mentions, wordsIn } from './link-words.ts';

export interface MailRequest {
  /** Kinds that the subject names. */
  readonly subject: ReadonlySet<LinkWord>;
  /** There is no subject to say what it is about. */
  readonly isUntitled: boolean;
  /** Something near the beginning asks to confirm, to register or to accept. */
  readonly asksToProceed: () => boolean;
  /** The subject tells of something done: a changed password, a new sign-in. */
  readonly isNotice: boolean;
  /** The subject tells of an order, an invoice, a parcel. */
  readonly isRecord: boolean;
  /** The subject has a word for confirming, of whatever. */
  readonly titleConfirms: boolean;
  /** The subject, or the beginning before anything for those who did not ask, speaks of a new password. */
  readonly asksToReset: () => boolean;
  /** A ticket, a build, a digest of a forum: what its links are called is what it tells of. */
  readonly isReport: () => boolean;
  /** A code to enter: the page for that carries nothing, and a link instead of it carries a token or the code. */
  readonly code: string | null;
}

const SUBJECT_MAX_CHARACTERS = 500;
/** Ordinary mails have one or two of them. */
const REPORT_WORDS_MIN = 4;
const OPENING_MAX_CHARACTERS = 1_500;

/** @param code the one-time code that was found in the mail */
export function requestOf(subject: string, text: string, code: string | null): MailRequest {
  const title = subject.slice(0, SUBJECT_MAX_CHARACTERS);
  const opening = text.slice(0, OPENING_MAX_CHARACTERS);
  const words = new Set(linkMeanings(title).map(({ word }) => word));
  const isNotice = mentions('notice', title) && !words.has('confirm') && !REQUEST.test(title);
  const isRecord = mentions('record', title);
  const titleConfirms = words.has('confirm');
  if (isNotice) for (const word of ['signIn', 'reset'] as const) words.delete(word);
  // "Order confirmation", "your invoice: sign in to pay".
  if (isRecord) for (const word of ['signIn', 'confirm'] as const) words.delete(word);
  return {
    isUntitled: title.trim() === '',
    isNotice,
    isRecord,
    titleConfirms,
    subject: words,
    asksToProceed: once(() =>
      [title, opening].some(
        (part) => linkMeanings(part).some(({ word }) => word === 'confirm') || mentions('purpose', part),
      ),
    ),
    isReport: once(() => wordsIn('report', `${title}\n${opening}`) >= REPORT_WORDS_MIN),
    asksToReset: once(() => words.has('reset') || (code === null && !isNotice && !isRecord && opensWithReset(opening))),
    code,
  };
}

/** Found when it is first asked for: few links need it. */
function once(find: () => boolean): () => boolean {
  let found: boolean | undefined;
  return () => {
    found ??= find();
    return found;
  };
}

function opensWithReset(text: string): boolean {
  const opening = text.slice(0, RESET_OPENING_MAX_CHARACTERS);
  const first = linkMeanings(opening).find(({ word }) => word === 'reset');
  return first !== undefined && !mentions('notMe', opening.slice(0, first.from));
}

const RESET_OPENING_MAX_CHARACTERS = 500;

/** "New sign-in request": the reader is still to decide. */
const REQUEST =
  /request|attempt|approv|anfrage|anforderung|solicitud|demande|richiesta|solicitação|pedido de|verzoek|förfrågan|begäran|anmodning|forespørsel|pyyntö|żądanie|prośba|žádost|žiadosť|kérés|kérelem|cerere|zahtjev|заявка|запрос|запит|αίτημα|isteği|permintaan|yêu cầu|คำขอ|リクエスト|申請|要求|요청|请求|申请|請求|طلب|בקשה|בקשת|درخواست|अनुरोध/iu;

export type ActionWord = 'confirm' | 'reset' | 'signIn';

export const isAction = (word: LinkWord | undefined): word is ActionWord =>
  word === 'confirm' || word === 'reset' || word === 'signIn';

/** The one kind of action that the subject names. */
export function soleAction({ subject }: MailRequest): ActionWord | undefined {
  const actions = [...subject].filter(isAction);
  return actions.length === 1 ? actions[0] : undefined;
}
