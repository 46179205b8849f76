/** Which capabilities are announced when, and to whom not. A word stands here only when its RFC is kept completely. */
import type { Session } from './session.ts';

/** Hides capabilities from clients that stumble over them, by their name in the ID command (RFC 2971). */
export interface CapabilityHiding {
  readonly clientName: RegExp;
  readonly hide: readonly string[];
}

const ALWAYS = ['IMAP4rev1', 'IMAP4rev2', 'LITERAL+', 'SASL-IR', 'ID', 'ENABLE'];
const AUTHENTICATION = ['AUTH=PLAIN', 'AUTH=LOGIN', 'AUTH=OAUTHBEARER', 'AUTH=XOAUTH2'];
const AFTER_LOGIN = [
  'IDLE',
  'NAMESPACE',
  'CHILDREN',
  'UNSELECT',
  'UIDPLUS',
  'MOVE',
  'CONDSTORE',
  'QRESYNC',
  'ESEARCH',
  'SEARCHRES',
  'WITHIN',
  'LIST-EXTENDED',
  'LIST-STATUS',
  'SPECIAL-USE',
  'CREATE-SPECIAL-USE',
  'STATUS=SIZE',
  'QUOTA',
  'QUOTA=RES-STORAGE',
  'QUOTA=RES-MESSAGE',
  'BINARY',
  'MULTIAPPEND',
  'OBJECTID',
  'PREVIEW',
  'SAVEDATE',
  'UTF8=ACCEPT',
  'SORT',
  'SORT=DISPLAY',
  'ESORT',
  'THREAD=REFERENCES',
  'THREAD=ORDEREDSUBJECT',
  'REPLACE',
  'COMPRESS=DEFLATE',
  'XLIST',
];

/** Words of the CAPABILITY answer as of now. */
export function capabilities(session: Session): readonly string[] {
  const words = [...ALWAYS];
  if (session.state === 'not-authenticated') {
    if (session.control.tls) words.push(...AUTHENTICATION);
    else words.push(...(session.control.canStartTls ? ['STARTTLS'] : []), 'LOGINDISABLED');
  } else {
    words.push(...AFTER_LOGIN.filter((word) => word !== 'COMPRESS=DEFLATE' || !session.control.compressed));
    words.push(`APPENDLIMIT=${session.limits.messageMaxBytes}`);
  }
  const hidden = new Set(
    session.hiding.filter(({ clientName }) => clientName.test(session.clientName)).flatMap(({ hide }) => hide),
  );
  return words.filter((word) => !hidden.has(word));
}
