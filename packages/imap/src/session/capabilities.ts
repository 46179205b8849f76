/**
 * The capabilities of IMAP's CAPABILITY answer: which there are, which are announced when, and to whom not. A capability
 * is listed only if its RFC is implemented completely. It needs no other file, so that settings can be checked with it.
 *
 *     always           the protocol itself
 *     before login     under TLS the mechanisms of authentication; without it STARTTLS and LOGINDISABLED
 *     after login      everything else
 *     hidden           from clients that stumble over it, by their name in ID (RFC 2971); its commands still work
 */

export const CAPABILITIES_ALWAYS = ['IMAP4rev1', 'IMAP4rev2', 'LITERAL+', 'SASL-IR', 'ID', 'ENABLE'];
export const CAPABILITIES_OF_AUTHENTICATION = ['AUTH=PLAIN', 'AUTH=LOGIN', 'AUTH=OAUTHBEARER', 'AUTH=XOAUTH2'];
/** `APPENDLIMIT` is announced with the number after it (RFC 7889). */
export const CAPABILITIES_AFTER_LOGIN = `
  IDLE NAMESPACE CHILDREN UNSELECT UIDPLUS MOVE CONDSTORE QRESYNC ESEARCH SEARCHRES WITHIN LIST-EXTENDED
  LIST-STATUS SPECIAL-USE CREATE-SPECIAL-USE STATUS=SIZE QUOTA QUOTA=RES-STORAGE BINARY MULTIAPPEND OBJECTID
  PREVIEW SAVEDATE UTF8=ACCEPT SORT SORT=DISPLAY ESORT THREAD=REFERENCES THREAD=ORDEREDSUBJECT REPLACE
  COMPRESS=DEFLATE XLIST APPENDLIMIT
`
  .trim()
  .split(/\s+/);

/** Hides capabilities from clients that stumble over them, by their name in the ID command (RFC 2971). */
export interface CapabilityHiding {
  readonly clientName: RegExp;
  readonly hide: readonly string[];
}

/** Without IMAP4rev1 a client has no protocol left. STARTTLS and LOGINDISABLED protect the token. */
const HIDEABLE = [...CAPABILITIES_ALWAYS, ...CAPABILITIES_OF_AUTHENTICATION, ...CAPABILITIES_AFTER_LOGIN].filter(
  (word) => word !== 'IMAP4rev1',
);

/**
 * Reads rules such as `Old Mail*: QRESYNC CONDSTORE; *: COMPRESS=DEFLATE`. In a client's name `*` stands for any text,
 * including none, and case is ignored.
 *
 * @returns undefined: it has another form, or names something that is not a capability that can be hidden
 */
export function parseCapabilityHiding(text: string): CapabilityHiding[] | undefined {
  const rules: CapabilityHiding[] = [];
  for (const rule of text.split(';')) {
    if (rule.trim() === '') continue;
    const colon = rule.lastIndexOf(':');
    const name = rule.slice(0, Math.max(0, colon)).trim();
    const words = rule
      .slice(colon + 1)
      .split(/[\s,]+/)
      .filter((word) => word !== '');
    const hide = words.flatMap((word) => HIDEABLE.find((each) => each.toUpperCase() === word.toUpperCase()) ?? []);
    if (name === '' || words.length === 0 || hide.length < words.length) return undefined;
    rules.push({ clientName: patternOf(name), hide });
  }
  return rules;
}

function patternOf(name: string): RegExp {
  const pieces = name.split(/\*+/).map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 'isu');
}

/** A session, as far as its capabilities depend on it. */
interface AnnouncedTo {
  readonly state: string;
  readonly control: { readonly tls: boolean; readonly canStartTls: boolean; readonly compressed: boolean };
  readonly options: {
    readonly limits: { readonly messageMaxBytes: number };
    readonly hiding: readonly CapabilityHiding[];
  };
  readonly clientName: string;
}

/** Words of the CAPABILITY answer as of now. */
export function capabilities(client: AnnouncedTo): readonly string[] {
  const words = [...CAPABILITIES_ALWAYS];
  if (client.state === 'not-authenticated') {
    if (client.control.tls) words.push(...CAPABILITIES_OF_AUTHENTICATION);
    else words.push(...(client.control.canStartTls ? ['STARTTLS'] : []), 'LOGINDISABLED');
  } else
    words.push(...CAPABILITIES_AFTER_LOGIN.filter((word) => word !== 'COMPRESS=DEFLATE' || !client.control.compressed));
  return words
    .filter((word) => !isHidden(client, word))
    .map((word) => (word === 'APPENDLIMIT' ? `APPENDLIMIT=${client.options.limits.messageMaxBytes}` : word));
}

/** Whether a capability is hidden from this client. Its commands still work. */
export const isHidden = ({ options, clientName }: AnnouncedTo, capability: string): boolean =>
  options.hiding.some((rule) => rule.hide.includes(capability) && rule.clientName.test(clientName));
