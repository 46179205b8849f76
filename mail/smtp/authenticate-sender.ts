/**
 * SPF, DKIM, DMARC and ARC of an incoming message, by mailauth. DNS trouble gives `temperror` and never a refusal; the
 * whole judgement has a time limit, so that a slow name server of a sender holds nobody up.
 */
import { Readable } from 'node:stream';
import { authenticate } from 'mailauth';
import { AUTH_VERDICTS, type AuthenticationResults, type AuthVerdict } from '../store/authentication-results.ts';
import type { DnsLookup } from './dns-resolver.ts';

export interface SenderFacts {
  /** Bytes as the client sent them. */
  readonly received: Buffer;
  readonly remoteAddress: string;
  readonly helo: string;
  /** Empty for the null sender. */
  readonly envelopeFrom: string;
  /** Our name in Authentication-Results. */
  readonly hostname: string;
}

export interface SenderJudgement {
  readonly results: AuthenticationResults;
  /** Whole Authentication-Results field, with its line break. */
  readonly header: string;
  /** DMARC failed under a policy of quarantine or reject. */
  readonly unauthenticated: boolean;
}

const TIME_LIMIT_MS = 10_000;
const CHUNK_BYTES = 65_536;

export async function judgeSender(facts: SenderFacts, lookup: DnsLookup): Promise<SenderJudgement> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), TIME_LIMIT_MS);
  });
  const verdict = judge(facts, lookup).catch(() => undefined);
  const judged = await Promise.race([verdict, late]);
  clearTimeout(timer);
  return judged ?? undecided(facts.hostname);
}

async function judge(facts: SenderFacts, lookup: DnsLookup): Promise<SenderJudgement> {
  const { received } = facts;
  const result = await authenticate(received.length > CHUNK_BYTES ? Readable.from(chunksOf(received)) : received, {
    ip: facts.remoteAddress,
    helo: facts.helo,
    // Without a sender the HELO name is judged (RFC 7208 §2.4), not what a Return-Path in the message claims.
    sender: facts.envelopeFrom,
    mta: facts.hostname,
    resolver: lookup,
    trustReceived: false,
    disableBimi: true,
  });
  const signatures = result.dkim.results.flatMap(({ status, signingDomain, selector }) =>
    signingDomain === undefined
      ? []
      : [{ result: verdictOf(status.result), domain: signingDomain, selector: selector ?? '' }],
  );
  const { spf, dmarc, arc } = result;
  const dmarcResult = dmarc === false ? 'none' : verdictOf(dmarc.status.result);
  const policy = dmarc === false ? null : (dmarc.policy ?? null);
  return {
    results: {
      spf: {
        result: spf === false ? 'none' : verdictOf(spf.status.result),
        domain: spf === false ? null : spf.domain || null,
      },
      dkim: {
        result: (signatures.find((signature) => signature.result === 'pass') ?? signatures[0])?.result ?? 'none',
        signatures,
      },
      dmarc: { result: dmarcResult, domain: dmarc === false ? null : dmarc.domain || null, policy },
      arc: { result: arc === false ? 'none' : verdictOf(arc.status.result) },
    },
    header: authenticationResultsField(result.headers),
    unauthenticated: dmarcResult === 'fail' && (policy === 'quarantine' || policy === 'reject'),
  };
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

const verdictOf = (result: string): AuthVerdict =>
  result === 'temperr' ? 'temperror' : (AUTH_VERDICTS.find((verdict) => verdict === result) ?? 'none');

/** mailauth gives Received-SPF too; its facts all stand in Authentication-Results. */
const authenticationResultsField = (headers: string): string =>
  `${headers.slice(headers.indexOf('Authentication-Results:')).trimEnd()}\r\n`;

function undecided(hostname: string): SenderJudgement {
  const temperror = { result: 'temperror' as const };
  return {
    results: {
      spf: { ...temperror, domain: null },
      dkim: { ...temperror, signatures: [] },
      dmarc: { ...temperror, domain: null, policy: null },
      arc: temperror,
    },
    header: `Authentication-Results: ${hostname};\r\n spf=temperror;\r\n dkim=temperror;\r\n dmarc=temperror\r\n`,
    unauthenticated: false,
  };
}
