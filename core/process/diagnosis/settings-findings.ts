/** Settings that are right one by one, and together make an installation that serves nobody outside. */
import type { Settings } from '#core/platform/settings/settings.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, error } = findingsOf('settings');

/** Names that DNS has for nobody (RFC 6761, 6762): an installation for trials. */
export const isTrialName = (name: string): boolean => /(?:^|\.)(?:localhost|local|invalid)$/i.test(name);

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** In development only whether it is meant: everything is allowed there. */
export function settingsFindings(settings: Settings): Finding[] {
  if (settings.MODE !== 'production') {
    return [
      isTrialName(settings.MAIL_DOMAIN)
        ? ok(`A trial: MODE is development, and nobody outside can write to ${settings.MAIL_DOMAIN}.`)
        : warning(
            `MODE is development, which allows webhooks to this machine and generated secrets, but the domain is ${settings.MAIL_DOMAIN}.`,
            'Set MODE=production.',
          ),
    ];
  }
  const findings: Finding[] = [];
  if (isTrialName(settings.MAIL_DOMAIN))
    findings.push(
      error(
        `MAIL_DOMAIN is ${settings.MAIL_DOMAIN}, which nobody outside can write to.`,
        'Set it to a domain of yours.',
      ),
    );
  if (isTrialName(settings.MAIL_HOSTNAME))
    findings.push(
      error(
        `MAIL_HOSTNAME is ${settings.MAIL_HOSTNAME}, under which nobody outside finds this host.`,
        'Set it to the name this host has in DNS.',
      ),
    );
  if (isLoopback(settings.MAIL_HOST))
    findings.push(
      error(
        `The mail listeners are bound to MAIL_HOST=${settings.MAIL_HOST}, which no other machine can reach.`,
        'Set MAIL_HOST=0.0.0.0 (or :: for IPv6 as well), unless a proxy on this machine passes the connections on.',
      ),
    );
  if (settings.API_PUBLIC_URL === undefined)
    findings.push(
      warning(
        'API_PUBLIC_URL is not set: links in notices to people lead to the address at which the API listens.',
        'Set it to the https:// address of the API as people reach it.',
      ),
    );
  else if (!settings.API_PUBLIC_URL.startsWith('https:'))
    findings.push(
      warning(
        `API_PUBLIC_URL is ${settings.API_PUBLIC_URL}: credentials and mail pass through the network without TLS.`,
        'Put a proxy with TLS in front of the API, and set API_PUBLIC_URL to its https:// address.',
      ),
    );
  if (settings.OPERATOR_KEY === undefined)
    findings.push(
      warning('OPERATOR_KEY is not set: plans of organizations cannot be changed.', 'Set it to a random text.'),
    );
  if (settings.OUTBOUND_TRANSPORT === 'capture')
    findings.push(
      warning(
        'OUTBOUND_TRANSPORT is capture: no mail leaves this installation.',
        'Set it to mx (directly), or to relay with OUTBOUND_RELAY_URL.',
      ),
    );
  return findings.length > 0 ? findings : [ok('The settings are those of an installation in production.')];
}
