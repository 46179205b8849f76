/** Which capabilities are announced when, and to whom not. */
import { CAPABILITIES_AFTER_LOGIN, CAPABILITIES_ALWAYS, CAPABILITIES_OF_AUTHENTICATION } from './capabilities.ts';
import type { Session } from './session.ts';

/** Words of the CAPABILITY answer as of now. */
export function capabilities(session: Session): readonly string[] {
  const words = [...CAPABILITIES_ALWAYS];
  if (session.state === 'not-authenticated') {
    if (session.control.tls) words.push(...CAPABILITIES_OF_AUTHENTICATION);
    else words.push(...(session.control.canStartTls ? ['STARTTLS'] : []), 'LOGINDISABLED');
  } else
    words.push(
      ...CAPABILITIES_AFTER_LOGIN.filter((word) => word !== 'COMPRESS=DEFLATE' || !session.control.compressed),
    );
  return words
    .filter((word) => !isHidden(session, word))
    .map((word) => (word === 'APPENDLIMIT' ? `APPENDLIMIT=${session.limits.messageMaxBytes}` : word));
}

/** Whether a capability is hidden from this client. Its commands still work. */
export const isHidden = ({ hiding, clientName }: Session, capability: string): boolean =>
  hiding.some((rule) => rule.hide.includes(capability) && rule.clientName.test(clientName));
