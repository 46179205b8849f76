/**
 * Why a TLS connection failed, in words that somebody can act on. Libraries report the text of OpenSSL, such as
 * `C0E7…:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:…`, which says nothing to most
 * readers: none of it is shown to a user.
 */

/** Of Node and OpenSSL. */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL|CERT_|CRL_|EPROTO$|ETLS$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT_)/;
export const OPENSSL_TEXT =
  /error:[0-9A-Fa-f]{8}:|SSL routines|OpenSSL|\bssl3_|\btls_[a-z]+_|\bPEM routines|alert number \d/;

const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /CERT_HAS_EXPIRED|certificate has expired|CRL_HAS_EXPIRED|certificate expired/i,
    'its certificate has expired: renew it',
  ],
  [
    /CERT_NOT_YET_VALID|not yet valid/i,
    'its certificate is not valid yet: check the clock of the server, or use another certificate',
  ],
  [/CERT_REVOKED|certificate revoked/i, 'its certificate was revoked: use a new one'],
  [/SELF_SIGNED|self.signed/i, 'its certificate is self-signed: use one of a public certificate authority'],
  [
    /UNABLE_TO_|INVALID_CA|unable to (?:verify|get)|unknown ca|CERT_UNTRUSTED|certificate verify failed/i,
    'its certificate cannot be traced to a known authority: let the server send its intermediate certificates, or use a certificate of a public authority',
  ],
  [
    /ALTNAME|HOSTNAME_MISMATCH|altnames|host ?name mismatch/i,
    'its certificate is for another name: use a certificate that has the name of this host, or the name that is in the certificate',
  ],
  [
    /wrong.version.number|unknown.protocol|packet.length.too.long|http.request|record.layer|data.between.ccs/i,
    'it does not speak TLS on this port: check the port, and whether TLS is meant to be used there',
  ],
  [
    /unsupported.protocol|no.protocols.available|protocol.version|version.too.low|legacy.sigalg/i,
    'it supports no version of TLS that is accepted: let the server support TLS 1.2 or later',
  ],
  [
    /no.shared.cipher|handshake.failure|no.suitable|insufficient.security/i,
    'no method of encryption is supported by both sides: let the server support the usual ciphers of TLS 1.2 or 1.3',
  ],
  [
    /key.too.small|md.too.weak|too.weak/i,
    'its key or its signature is too weak: use a certificate with a longer key (RSA of 2,048 bits or more, or ECDSA)',
  ],
  [
    /certificate.required|bad.certificate|certificate.unknown|unsupported.certificate/i,
    'it asks for a certificate of the client, or refuses it: let the server accept connections without one',
  ],
  [/unrecognized.name/i, 'it does not know this name: check the address, and the names that the server is set up for'],
];
const OTHER = 'the TLS handshake failed: check the TLS settings of the server';

export const field = (error: unknown, name: string): string => {
  const value: unknown = Reflect.get(Object(error), name);
  return typeof value === 'string' ? value : '';
};

/**
 * @param error as Node, or a library on it, reports it
 * @returns a sentence part such as "its certificate has expired: renew it"; undefined: the reason is not TLS
 */
export function tlsFailureOf(error: unknown): string | undefined {
  const code = field(error, 'code');
  const text = error instanceof Error ? error.message : String(error);
  // A library may give a code of its own and keep the one of Node as the cause.
  const cause: unknown = Reflect.get(Object(error), 'cause');
  if (!TLS_CODE.test(code) && !OPENSSL_TEXT.test(text))
    return cause === undefined || cause === null || cause === error ? undefined : tlsFailureOf(cause);
  const said = `${code} ${text} ${field(error, 'reason')}`;
  return REASONS.find(([pattern]) => pattern.test(said))?.[1] ?? OTHER;
}
