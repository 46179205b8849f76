/** A login or sign-in: where it comes from and what it is for. */
export interface LoginTry {
  /** `core/platform/addresses/source-address.ts`. */
  readonly source: string;
  /** Address of the mailbox or account. */
  readonly account: string;
  /** A login from this source to this account has succeeded before. */
  readonly known: boolean;
}

/** The account as seen from one source. */
export const loginPair = ({ source, account }: Pick<LoginTry, 'source' | 'account'>): string => `${source} ${account}`;

/**
 * Which counts of failures may refuse a login: a known pair is limited by its own alone, so that neither a neighbour with
 * a dead credential nor failures from elsewhere lock it out.
 */
export const limitingPairs = (login: LoginTry): readonly string[] =>
  login.known ? [loginPair(login)] : [login.source, loginPair(login)];
