/** What SPF must allow where mail leaves by a relay: its hosts send, and their addresses are known to its operator. */

/** Host names of well-known relays, and what their documentation says to put into the SPF record (2026-11). */
const KNOWN: readonly (readonly [host: RegExp, include: string])[] = [
  [/^email-smtp\.[\w-]+\.amazonaws\.com$/, 'amazonses.com'],
  [/(?:^|\.)brevo\.com$|(?:^|\.)sendinblue\.com$/, 'spf.brevo.com'],
  [/^smtp(?:-relay)?\.gmail\.com$|^smtp-relay\.google\.com$/, '_spf.google.com'],
  [/(?:^|\.)mailgun\.org$/, 'mailgun.org'],
  [/(?:^|\.)mailjet\.com$/, 'spf.mailjet.com'],
  [/(?:^|\.)mandrillapp\.com$/, 'spf.mandrillapp.com'],
  [/(?:^|\.)messagingengine\.com$/, 'spf.messagingengine.com'],
  [/(?:^|\.)office365\.com$|(?:^|\.)protection\.outlook\.com$/, 'spf.protection.outlook.com'],
  [/(?:^|\.)postmarkapp\.com$/, 'spf.mtasv.net'],
  [/(?:^|\.)sendgrid\.net$/, 'sendgrid.net'],
  [/(?:^|\.)sparkpostmail\.com$/, 'sparkpostmail.com'],
  [/(?:^|\.)zoho\.(?:com|eu|in)$/, 'zohomail.com'],
];

/**
 * Mechanism of RFC 7208 §5 that allows the hosts of a relay; undefined: it is not known here.
 *
 * @param host name or address of the relay, as in a URL
 */
export function spfOfRelay(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  const [, include] = KNOWN.find(([pattern]) => pattern.test(name)) ?? [];
  return include === undefined ? undefined : `include:${include}`;
}
