/** What the address of a link says it is for. Redirects that count clicks may carry the address they lead to. */
import { registrableDomain } from '#domain/mail/domain-names.ts';
import type { LinkWord } from './link-words.ts';

/** Words of addresses are English in most languages. */
const ADDRESS_WORDS: readonly (readonly [LinkWord, RegExp])[] = [
  [
    'unsubscribe',
    /^(?:unsubscribe|unsub|unsubs|optout|optouts|afmelden|abmelden|desinscription|desabonnement|descadastrar|baja|odhlasit|wypisz|avregistrera|avmelding|leiratkozas|dezabonare|odjava|preferences|subscriptions|notifications)$/,
  ],
  [
    'decline',
    /^(?:cancel|decline|deny|denied|reject|revoke|disavow|block|abuse|report|notme|wasntme|undo|dispute|abort|refuse|remove|delete|annuler|cancelar|annulla|annuleren|stornieren|ablehnen|avbryt|peruuta|anuluj|zrusit|iptal|batal|huy|odbij)$/,
  ],
  [
    'reset',
    /^(?:reset|resets|forgot|forgotten|recover|recovery|newpassword|resetpassword|passwordreset|pwreset|lostpassword|changepassword|setpassword|restore)$/,
  ],
  [
    'confirm',
    /^(?:confirm|confirmation|confirmed|confirmemail|confirmar|conferma|confirmer|confirmation|verify|verification|verifyemail|verifier|verificar|verifica|verificatie|activate|activation|activar|aktivieren|aktivierung|activeren|validate|validation|valider|optin|doi|doubleoptin|bestaetigen|bestaetigung|bestatigen|bevestig|bevestigen|bekrafta|bekraeft|bekreft|vahvista|potwierdz|potvrdit|potvrdi|potvrda|megerosites|onayla|dogrula|konfirmasi|verifikasi|approve|accept|invite|invitation|invitations)$/,
  ],
  [
    'signIn',
    /^(?:signin|login|logon|magic|magiclink|magiclogin|passwordless|sso|onetime|connexion|anmelden|anmeldung|einloggen|inloggen|aanmelden|logowanie|zaloguj|prihlaseni|prihlasenie|prihlasit|innlogging|inloggning|kirjaudu|kirjautuminen|bejelentkezes|belepes|prijava|autentificare|giris|masuk|dangnhap|accesso|accedi|acceso|entrar|otl)$/,
  ],
  [
    'footer',
    /^(?:privacy|terms|legal|help|support|faq|contact|about|imprint|impressum|datenschutz|blog|careers|tos|policy|policies|docs|documentation|faqs)$/,
  ],
];
/** Words that mean something only side by side. */
const PAIRS: readonly (readonly [LinkWord, RegExp])[] = [
  [
    'unsubscribe',
    / (?:opt out|email preferences|manage preferences|email settings|notification settings|list unsubscribe) /,
  ],
  ['decline', / (?:not me|wasnt me|was not me|secure account|report abuse|lock account) /],
  [
    'reset',
    / (?:new password|lost password|forgot(?:ten)? password|password (?:recovery|forgotten|lost)|set password|change password|password (?:edit|new|change|set|create)|account recover) /,
  ],
  ['confirm', / (?:opt in|double opt in|verify email|confirm email) /],
  ['signIn', / (?:sign in|log in|magic link|one time login|email link|login link) /],
];
/** Words of an address that are looked at. */
const ADDRESS_WORDS_MAX = 80;
const ADDRESS_MAX_CHARACTERS = 2_048;

/**
 * The strongest thing an address says: stopping counts more than going on.
 *
 * @param asked the one thing that the subject asks for, which counts before others: "lost-password/…/confirm"
 */
export function addressMeaning(url: URL, asked?: LinkWord): LinkWord | undefined {
  const words = wordsOf(url);
  const text = ` ${words.join(' ')} `;
  let first: LinkWord | undefined;
  for (const [meaning, pair] of PAIRS) {
    const single = ADDRESS_WORDS.find(([word]) => word === meaning)?.[1];
    if (!pair.test(text) && (single === undefined || !words.some((word) => single.test(word)))) continue;
    if (asked === undefined || meaning === asked || meaning === 'unsubscribe' || meaning === 'decline')
      return first === undefined || meaning === asked ? meaning : first;
    first ??= meaning;
  }
  if (first !== undefined) return first;
  const footer = ADDRESS_WORDS.at(-1)?.[1];
  return footer !== undefined && words.some((word) => footer.test(word)) ? 'footer' : undefined;
}

function wordsOf({ hostname, pathname, search, hash }: URL): string[] {
  // The name of the sender says nothing about the link.
  const labels = hostname.slice(0, -registrableDomain(hostname).length).replaceAll('.', ' ');
  return decoded(
    `${labels} ${pathname.slice(0, ADDRESS_MAX_CHARACTERS)} ${search.slice(0, ADDRESS_MAX_CHARACTERS)} ${hash.slice(0, 256)}`,
  )
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 1)
    .slice(0, ADDRESS_WORDS_MAX);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What the last word of a path shows: a thing or a page of settings rather than an act. */
const RECORD_PATH =
  /^(?:orders?|invoices?|viewinvoice|receipts?|bills?|billing|statements?|shipments?|shipping|track|tracking|parcels?|packages?|deliver(?:y|ies)|transactions?|activity|history|settings|profile|keys|sessions|devices|reports?|usage|tickets?|trips?|bookings?|reservations?|plans?|subscriptions?|payments?|cart|pedidos?|facturas?|faturas?|fatture|ordini|commandes?|bestellungen|rechnungen|bestellingen|facturen|zamowienia|faktury|objednavky)$/;

export function showsRecord({ pathname }: URL): boolean {
  const words = pathname
    .slice(0, ADDRESS_MAX_CHARACTERS)
    .toLowerCase()
    .replace(/\.(?:php|html?|aspx?|jsp)$/, '');
  return RECORD_PATH.test(words.split('/').findLast((part) => /^[a-z]+$/.test(part)) ?? '');
}

/** Something in the address may tell who follows it: a query, a digit, a long part, something behind the word. */
export const carriesToken = ({ pathname, search, hash }: URL): boolean =>
  search.length > 1 || /\d|[a-z][A-Z]|[^/]{20}|^\/[^/]+\/[^/]/.test(pathname) || /[\d=]/.test(hash);

/** A digit or the value of a parameter, which the address of a general page has not. */
export const carriesValue = ({ pathname, search, hash }: URL): boolean => /[\d=]/.test(pathname + search + hash);

/** The code itself as a part of the path or the value of a parameter, so that nobody has to type it. */
export const carriesCode = ({ pathname, search, hash }: URL, code: string | null): boolean =>
  code !== null &&
  `${pathname}${search}${hash}`.split(/[/?&=#]/).some((part) => part === code || part === code.replaceAll('-', ''));

/** More than a page to sign in: an address made for one reader. */
export const signsInByItself = (url: URL): boolean =>
  /magic|passwordless|email-?link|login-?link|one-?time/i.test(url.pathname) && carriesSecret(url.href);

/** A document or an image. */
export const isFile = ({ pathname }: URL): boolean =>
  /\.(?:pdf|docx?|xlsx?|csv|zip|ics|jpe?g|png|gif)$/i.test(pathname);

/** A page that answers questions, by its host or the beginning of its path. */
export const isHelpPage = ({ hostname, pathname }: URL): boolean =>
  HELP.test(hostname.split('.')[0] ?? '') || pathname.split('/', 3).some((part) => HELP.test(part));
const HELP =
  /^(?:help|helpcenter|help-center|hc|support|faqs?|docs|contact|contact-us|hilfe|aide|ayuda|ajuda|aiuto|pomoc|yardim|privacy|legal|terms)$/i;

/** A part that nobody could guess: a token, a signature. */
export function carriesSecret(address: string): boolean {
  const { pathname, search, hash } = new URL(address);
  const parts = [...pathname.split('/'), ...search.slice(1).split(/[&=]/), ...hash.slice(1).split(/[&=/]/)];
  return parts.some((part) => SECRET.test(part) && !/%(?!2[BbFf]|3[Dd]|40)|[^\w.~%@+=-]/.test(part));
}
/** Digits among letters, capitals inside, or a long number. */
const SECRET = /^(?=.{6})(?=.*[A-Za-z])(?=.*\d)|[a-z][A-Z].*[a-z\d][A-Z]|^\d{6,}$/;

const SOCIAL =
  /(?:^|\.)(?:facebook|twitter|x|instagram|linkedin|youtube|tiktok|pinterest|t|wa|discord|apple|google)\.(?:com|me|gg)$/;

/** A social network or an app store, as far as its host tells. */
export const isSocial = ({ hostname, pathname }: URL): boolean =>
  SOCIAL.test(hostname) && !/(?:signin|login|verify|confirm|reset|auth)/i.test(pathname);
