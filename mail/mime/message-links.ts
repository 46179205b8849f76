/** The links of a mail, those that ask to be followed first. Pure; what they lead to is the sender's choice. */
import { compile } from 'html-to-text';
import { affordable } from './html-text.ts';

/** What following a link is for, as far as its words tell. */
export const LINK_KINDS = ['confirm', 'sign_in', 'reset', 'other', 'unsubscribe'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

export interface MessageLink {
  readonly url: string;
  /** Words of the link in the HTML; null for one that stands in plain text. */
  readonly text: string | null;
  readonly kind: LinkKind;
}

export interface LinkSource {
  readonly text: string;
  readonly html: string | null;
}

export const LINKS_MAX = 50;
const URL_MAX_CHARACTERS = 8_192;
const TEXT_MAX_CHARACTERS = 200;
const LOOKED_AT_MAX_CHARACTERS = 262_144;

/** Marks that no mail holds, because control characters are taken out before. */
const [OPEN, MIDDLE, CLOSE] = ['\u0001', '\u0002', '\u0003'];

const markLinks = compile({
  wordwrap: false,
  limits: { maxInputLength: LOOKED_AT_MAX_CHARACTERS, maxDepth: 64, maxChildNodes: 20_000, ellipsis: '' },
  formatters: {
    marked(element, walk, builder) {
      const attributes: Record<string, unknown> = element.attribs ?? {};
      builder.addLiteral(`${OPEN}${typeof attributes['href'] === 'string' ? attributes['href'].trim() : ''}${MIDDLE}`);
      walk(element.children, builder);
      builder.addLiteral(CLOSE);
    },
    alternative(element, _walk, builder) {
      const attributes: Record<string, unknown> = element.attribs ?? {};
      if (typeof attributes['alt'] === 'string') builder.addInline(attributes['alt']);
    },
  },
  selectors: [
    { selector: 'a', format: 'marked' },
    { selector: 'area', format: 'marked' },
    { selector: 'img', format: 'alternative' },
  ],
});

const MARKED = new RegExp(`${OPEN}([^${OPEN}${MIDDLE}${CLOSE}]*)${MIDDLE}([^${OPEN}${CLOSE}]*)${CLOSE}?`, 'g');
const BARE = /https?:\/\/[^\s<>"'\u0000-\u001f`{}|\\^]+/giu;

/** At most 50, each once. Images, and with them the pixels that count readers, are no links. */
export function messageLinks({ text, html }: LinkSource): MessageLink[] {
  const found = new Map<string, MessageLink>();
  const add = (given: string, words: string | null) => {
    const url = readUrl(given);
    if (url === undefined) return;
    const known = found.get(url);
    if (known !== undefined && (known.kind !== 'other' || words === null)) return;
    found.set(url, { url, text: words, kind: kindOf(url, words ?? '') });
  };
  if (html !== null)
    for (const [, href = '', words = ''] of markedText(html).matchAll(MARKED)) {
      const shown = words.replaceAll(/\s+/g, ' ').trim();
      add(href, shown === '' ? null : [...shown].slice(0, TEXT_MAX_CHARACTERS).join(''));
    }
  for (const [bare] of text.slice(0, LOOKED_AT_MAX_CHARACTERS).matchAll(BARE))
    if (bare.length <= URL_MAX_CHARACTERS) add(withoutPunctuation(bare), null);
  return [...found.values()]
    .toSorted((a, b) => LINK_KINDS.indexOf(a.kind) - LINK_KINDS.indexOf(b.kind))
    .slice(0, LINKS_MAX);
}

function markedText(html: string): string {
  const safe = html.slice(0, LOOKED_AT_MAX_CHARACTERS).replaceAll(/[\u0001-\u0003]/g, '');
  try {
    return markLinks(safe.slice(0, affordable(safe)));
  } catch {
    return '';
  }
}

function readUrl(given: string): string | undefined {
  if (given.length > URL_MAX_CHARACTERS || !/^https?:\/\//i.test(given)) return undefined;
  const url = URL.parse(given);
  return url === null || url.hostname === '' ? undefined : url.href;
}

/** What ends a sentence or closes a bracket that was opened before the link belongs to the text. */
function withoutPunctuation(url: string): string {
  const count = (character: string) => url.split(character).length;
  // Closing brackets that nothing opens, counted once: the link may be made of thousands.
  const unopened = { ')': count(')') - count('('), ']': count(']') - count('[') };
  let end = url.length;
  for (; end > 0; end--) {
    const last = url.charAt(end - 1);
    if (last === ')' || last === ']') {
      if (unopened[last] <= 0) break;
      unopened[last]--;
    } else if (!/[.,;:!?'"»”’。、）」]/u.test(last)) break;
  }
  return url.slice(0, end);
}

const KIND_WORDS: readonly (readonly [LinkKind, RegExp])[] = [
  [
    'unsubscribe',
    /un-?subscribe|opt-?out|abmelden|abbestellen|d[ée]sabonner|d[ée]sinscri|cancelar (?:la )?(?:suscripci|inscri)|darse de baja|annulla(?: l')?iscrizione|disiscri|afmelden|uitschrijven|avregistrer|отписа|配信停止|退订|수신거부|email[-_ ]?preferences|manage[-_ ]?(?:preferences|notifications|subscription)/iu,
  ],
  [
    'reset',
    /reset|forgot|zur[üu]cksetzen|r[ée]initialis|restablecer|reimposta|redefinir|wachtwoord (?:her|opnieuw)|сброс|new[-_ ]?password|neues passwort/iu,
  ],
  [
    'confirm',
    /confirm|verif|activat|validat|best[äa]tig|freischalt|aktivier|v[ée]rifi|valider|activer|activar|validar|conferma|attiva|bevestig|bekr[äæe]ft|potwierd|aktywuj|подтверд|активир|doğrula|onayla|確認|認証|验证|驗證|激活|인증|확인|accept[-_ ]?invit|invitation|join/iu,
  ],
  [
    'sign_in',
    /sign[-_ ]?in|log[-_ ]?in|magic|passwordless|one[-_ ]?time|anmelden|einloggen|connexion|se connecter|iniciar sesi|entrar|acced|accedi|inloggen|logga in|log ind|zaloguj|войти|вход|giriş|ログイン|登录|登入|로그인/iu,
  ],
];

/** Words first: an address says less of its purpose, and may carry words of a redirect. */
function kindOf(url: string, words: string): LinkKind {
  for (const [kind, form] of KIND_WORDS) if (form.test(words)) return kind;
  const { pathname, search, hostname } = new URL(url);
  const address = `${hostname.startsWith('unsubscribe.') ? 'unsubscribe ' : ''}${readable(pathname)} ${readable(search)}`;
  for (const [kind, form] of KIND_WORDS) if (form.test(address)) return kind;
  return 'other';
}

function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
