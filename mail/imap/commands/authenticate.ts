import { bad, type Completion, command, no } from '../command.ts';
import { logIn, refuseInClear } from '../log-in.ts';
import type { Scanner } from '../parser.ts';
import type { Session } from '../session.ts';

/** Reads one answer to `+`. Undefined: cancelled, or the line ended. */
type Ask = (challenge: string) => Promise<string | undefined>;

type Mechanism = (session: Session, ask: Ask, initial: string | undefined) => Promise<Completion>;

const CANCELLED = bad('AUTHENTICATE cancelled');
const MALFORMED = no('The credentials cannot be read', 'AUTHENTICATIONFAILED');
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const decode = (text: string): string | undefined =>
  BASE64.test(text) ? Buffer.from(text, 'base64').toString('latin1') : undefined;

/** RFC 4616. */
const plain: Mechanism = async (session, ask, initial) => {
  const answer = initial ?? (await ask(''));
  if (answer === undefined) return CANCELLED;
  const [authorization, address, token, ...rest] = decode(answer)?.split('\0') ?? [];
  if (authorization === undefined || !address || !token || rest.length > 0) return MALFORMED;
  if (authorization !== '' && authorization.toLowerCase() !== address.toLowerCase())
    return no('One mailbox cannot act for another', 'AUTHENTICATIONFAILED');
  return logIn(session, address, token);
};

const loginMechanism: Mechanism = async (session, ask, initial) => {
  const address = initial ?? (await ask(Buffer.from('Username:').toString('base64')));
  if (address === undefined) return CANCELLED;
  const token = await ask(Buffer.from('Password:').toString('base64'));
  if (token === undefined) return CANCELLED;
  const decoded = { address: decode(address), token: decode(token) };
  if (!decoded.address || !decoded.token) return MALFORMED;
  return logIn(session, decoded.address, decoded.token);
};

/** OAUTHBEARER (RFC 7628) and its forerunner XOAUTH2; the bearer is the mailbox token. */
const bearer =
  (read: (message: string) => { address: string | undefined; token: string | undefined }, failure: string): Mechanism =>
  async (session, ask, initial) => {
    const answer = initial ?? (await ask(''));
    if (answer === undefined) return CANCELLED;
    const { address, token } = read(decode(answer) ?? '');
    const completion = address && token ? await logIn(session, address, token) : MALFORMED;
    // The reason goes out as a challenge, and the client answers it before it hears NO (RFC 7628 §3.2.3).
    if (completion.status !== 'OK') await ask(Buffer.from(failure).toString('base64'));
    return completion;
  };

const value = (message: string, key: string): string | undefined =>
  message
    .split('\x01')
    .find((pair) => pair.toLowerCase().startsWith(`${key}=`))
    ?.slice(key.length + 1);

const tokenOf = (message: string): string | undefined => /^bearer +(\S+)$/i.exec(value(message, 'auth') ?? '')?.[1];

const MECHANISMS = new Map<string, Mechanism>([
  ['PLAIN', plain],
  ['LOGIN', loginMechanism],
  [
    'OAUTHBEARER',
    bearer(
      (message) => ({
        address: /^[ny],a=([^,\x01]+),/.exec(message)?.[1]?.replace(/=2c/gi, ',').replace(/=3d/gi, '='),
        token: tokenOf(message),
      }),
      '{"status":"invalid_token"}',
    ),
  ],
  [
    'XOAUTH2',
    bearer(
      (message) => ({ address: value(message, 'user'), token: tokenOf(message) }),
      '{"status":"401","schemes":"Bearer"}',
    ),
  ],
]);

/** AUTHENTICATE (RFC 9051 §6.2.2) with SASL-IR (RFC 4959). */
export const authenticate = command({
  verb: 'AUTHENTICATE',
  states: ['not-authenticated'],
  args(scan: Scanner) {
    scan.space();
    const mechanism = scan.word();
    const initial = scan.skip(' ') ? scan.match(/[A-Za-z0-9+/=]+/y) : undefined;
    // `=` alone is an initial response that is empty.
    return { mechanism, initial: initial === '=' ? '' : initial };
  },
  async run({ session }, { mechanism, initial }) {
    const clear = refuseInClear(session);
    if (clear !== undefined) return clear;
    const run = MECHANISMS.get(mechanism);
    if (run === undefined) return no('The mechanism is not known', 'CANNOT');
    const ask: Ask = async (challenge) => {
      session.control.continuation(challenge);
      const line = await session.control.readLine();
      if (line === undefined || line.tooLong || line.literal !== null || line.text === '*') return undefined;
      return line.text;
    };
    return run(session, ask, initial);
  },
});
