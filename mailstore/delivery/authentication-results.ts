/** The authentication results of a sender (RFC 8601), as stored with a message and shown by REST and events. */

export const AUTH_VERDICTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
] as const;
export type AuthVerdict = (typeof AUTH_VERDICTS)[number];

export interface AuthenticationResults {
  readonly spf: { readonly result: AuthVerdict; readonly domain: string | null };
  readonly dkim: {
    readonly result: AuthVerdict;
    readonly signatures: readonly {
      readonly result: AuthVerdict;
      readonly domain: string;
      readonly selector: string;
      /**
       * Parts of the message that the signature does not cover and that readers see or act on: header fields of
       * `SINGLE_FIELDS` by name, and `body` if only its beginning is signed. Absent: nothing is known.
       */
      readonly unsigned?: readonly string[];
    }[];
  };
  readonly dmarc: { readonly result: AuthVerdict; readonly domain: string | null; readonly policy: string | null };
  readonly arc: { readonly result: AuthVerdict };
}
