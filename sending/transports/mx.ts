/**
 * Sends mail directly to the mail hosts of each domain.
 *
 *   place at the domain's gate ─▶ MX ─▶ MTA-STS policy ─▶ host after host, address after address, until one responds
 *
 * Up to EHLO and STARTTLS a failure leads to the next address; after MAIL was sent to a host, its answer is that of the
 * attempt. TLS is used if it is offered; if it fails, a session without TLS follows, unless the domain enforces
 * MTA-STS: then it is TLS with a valid certificate of a host that the policy names, or a later attempt. A host with TLSA
 * records (DANE) is used by TLS with one of their certificates only.
 */
import type { TLSSocket } from 'node:tls';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import type { MTASTSPolicy } from 'mailauth';
import { validateMx } from 'mailauth/lib/mta-sts.js';
import { type DestinationPolicy, dnsResolver, isPublicAddress } from '#core/webhooks/requests/destination-guard.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { MX_ADDRESSES_TRIED_MAX, MX_TRYING_MAX_MS, OUTBOUND_SILENCE_TIMEOUT_MS } from '#domain/sending/outbound.ts';
import { dane, isAllowedByTlsa, type TlsaRecord } from './dane.ts';
import { domainGate } from './domain-gate.ts';
import { mailHosts } from './mail-hosts.ts';
import { stsPolicies } from './mta-sts.ts';
import { NOT_ANY_MORE, resultsOf, type Said } from './smtp-outcome.ts';
import { type SessionEnd, smtpSession } from './smtp-session.ts';
import type { OutgoingMail, RecipientResult, Transport } from './transport.ts';
import { validatedDns } from './validated-dns.ts';

export interface MxOptions {
  /** Of this host, in EHLO. */
  readonly hostname: string;
  readonly port: number;
  /** Resolvers, `address` or `address:port`; empty: those of the system. */
  readonly dnsServers: readonly string[];
  /** CIDR ranges that count as publicly routable. */
  readonly allowDestinations: readonly string[];
  /** To one domain. */
  readonly messagesPerMinute: number;
  /** How long the other host may be silent; default 5 minutes, 30 s up to its greeting. */
  readonly silenceMs?: number;
  /** How long one session may take; default 15 minutes. */
  readonly sessionMs?: number;
  /** Root certificates instead of Node's own, PEM. */
  readonly ca?: readonly string[];
  /** Whether TLSA records count; default: where all resolvers are on this machine. */
  readonly dane?: boolean;
  /** Port of the web servers with MTA-STS policies; default 443. */
  readonly policyPort?: number;
}

const deferred = (code: string, reply: string): Said => ({ kind: 'deferred', code, reply });
const failed = (code: string, reply: string): Said => ({ kind: 'failed', code, reply });

export function mxTransport(options: MxOptions): Transport {
  const { hostname, port, dnsServers, ca, sessionMs, silenceMs = OUTBOUND_SILENCE_TIMEOUT_MS } = options;
  const hosts = mailHosts(dnsServers, hostname);
  const ask = options.dane === false ? undefined : validatedDns(dnsServers);
  const signed = ask === undefined ? undefined : dane(ask);
  const gate = domainGate(options.messagesPerMinute);
  const destinations: DestinationPolicy = {
    resolve: dnsResolver({ DNS_SERVERS: dnsServers }),
    allowed: options.allowDestinations.map((cidr) => ipaddr.parseCIDR(cidr)),
  };
  const policies = stsPolicies({
    txt: hosts.txt,
    destinations,
    ...(ca === undefined ? {} : { ca }),
    ...(options.policyPort === undefined ? {} : { port: options.policyPort }),
  });

  async function talk(
    mail: OutgoingMail,
    { host, domain, address }: { readonly host: string; readonly domain: string; readonly address: string },
    enforced: boolean,
    records: readonly TlsaRecord[] | undefined,
  ): Promise<SessionEnd> {
    const session = { host, address, port, hostname, ca, silenceMs, sessionMs };
    if (records !== undefined) {
      const isAllowed = (socket: TLSSocket) => isAllowedByTlsa(socket, records, [host, domain]);
      // Where a policy demands a valid certificate as well, it must be both (RFC 8461 §2).
      const end = await smtpSession({ ...session, tls: enforced ? 'verified' : 'required', isAllowed }, mail);
      if (end.asked || !end.tlsFailed) return end;
      const reply = `No TLS with a certificate that the TLSA records of ${host} allow (DANE): ${end.failure.reply}`;
      return { ...end, failure: deferred('4.7.5', reply) };
    }
    const end = await smtpSession({ ...session, tls: enforced ? 'verified' : 'offered' }, mail);
    if (end.asked || !end.tlsFailed) return end;
    if (!enforced) return smtpSession({ ...session, tls: 'none' }, mail);
    const reply = `No TLS with a valid certificate, which MTA-STS requires of ${host}: ${end.failure.reply}`;
    return { ...end, failure: deferred('4.7.5', reply) };
  }

  async function bring(
    mail: OutgoingMail,
    domain: string,
    names: readonly string[],
    policy: MTASTSPolicy | undefined,
  ): Promise<readonly RecipientResult[]> {
    const enforced = policy?.mode === 'enforce';
    const until = performance.now() + MX_TRYING_MAX_MS;
    const all = (said: Said) => resultsOf(mail, new Map(), said);
    const covered = (await signed?.covers(domain)) ?? 'no';
    if (covered === 'unknown')
      return all(deferred('4.4.3', `DNS does not say for certain what the mail hosts of ${domain} are`));
    let tried = 0;
    let temporary: Said | undefined;
    let final = failed('5.4.4', `The mail hosts of ${domain} have no address`);
    for (const host of names.slice(0, MX_ADDRESSES_TRIED_MAX)) {
      if (enforced && !validateMx(host, policy).valid) {
        temporary ??= deferred('4.7.5', `${host} is not a mail host in the MTA-STS policy of ${domain}`);
        continue;
      }
      const { addresses, trouble } = await hosts.addresses(host);
      const wanted = covered === 'yes' ? await signed?.of(host, port) : undefined;
      if (wanted?.kind === 'unknown') {
        temporary ??= deferred('4.4.3', `DNS does not say for certain whether ${host} has TLSA records (DANE)`);
        continue;
      }
      if (trouble) temporary ??= deferred('4.4.3', `DNS does not answer for the addresses of ${host}`);
      for (const address of addresses) {
        if (!isPublicAddress(address, destinations)) {
          final = failed('5.4.4', `${host} has the address ${address}, which is not publicly routable`);
          continue;
        }
        if (tried >= MX_ADDRESSES_TRIED_MAX || performance.now() > until) break;
        tried++;
        const records = wanted?.kind === 'required' ? wanted.records : undefined;
        const end = await talk(mail, { host, domain, address }, enforced, records);
        if (end.asked) return end.results;
        temporary = { ...end.failure, reply: `${host} [${address}]: ${end.failure.reply}` };
      }
    }
    return all(temporary ?? final);
  }

  return {
    via: 'mx',
    destinationOf: (domain) => domain.toLowerCase(),
    async send(mail) {
      const all = (said: Said) => resultsOf(mail, new Map(), said);
      const written = domainOf(mail.recipients[0] ?? '');
      const domain = domainToASCII(written);
      if (domain === '') return all(failed('5.1.2', `${written} is not a domain`));
      const entry = await gate.enter(domain);
      if ('comeBackInMs' in entry) {
        const busy = deferred('4.4.5', `Too much mail for ${domain} at the same time`);
        return all({ ...busy, comeBackInMs: entry.comeBackInMs });
      }
      try {
        if ((await mail.mayBegin?.()) === false) return all(NOT_ANY_MORE);
        const found = await hosts.of(domain);
        if ('problem' in found) return all(found.problem);
        return await bring(mail, domain, found.hosts, await policies.of(domain));
      } finally {
        entry.leave();
      }
    },
  };
}
