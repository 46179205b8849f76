/**
 * MTA-STS policies of other domains (RFC 8461): which mail hosts are valid, and that TLS with a valid certificate is
 * required. Kept in memory for their max_age. A known policy stays valid when DNS or its web server fails; a domain
 * whose first policy cannot be fetched is treated as if it had none.
 */
import { request } from 'node:https';
import type { MTASTSPolicy } from 'mailauth';
import { parsePolicy, resolvePolicy } from 'mailauth/lib/mta-sts.js';
import { countedCache } from '#core/platform/caching/counted-cache.ts';
import { checkDestination, type DestinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import {
  MTA_STS_FETCH_AGAIN_MS,
  MTA_STS_FETCH_TIMEOUT_MS,
  MTA_STS_POLICY_MAX_BYTES,
} from '#domain/sending/outbound.ts';

export interface StsPolicies {
  /** Undefined: none is known. */
  of(domain: string): Promise<MTASTSPolicy | undefined>;
}

export interface StsOptions {
  readonly txt: (name: string) => Promise<string[][]>;
  readonly destinations: DestinationPolicy;
  /** Root certificates instead of Node's own, PEM. */
  readonly ca?: readonly string[];
  /** Of the web servers; 443 unless in a test. */
  readonly port?: number;
}

const REMEMBERED_MAX = 10_000;

interface Known {
  readonly id: string;
  readonly policy: MTASTSPolicy;
  readonly untilMs: number;
}

export function stsPolicies(options: StsOptions): StsPolicies {
  const known = countedCache<Known>('mta_sts', REMEMBERED_MAX);
  /** When a policy that could not be fetched may be asked for again, by domain and id. */
  const failed = new Map<string, number>();
  const running = new Map<string, Promise<MTASTSPolicy | undefined>>();

  async function look(domain: string): Promise<MTASTSPolicy | undefined> {
    const entry = known.peek(domain);
    const valid = entry !== undefined && entry.untilMs > Date.now() ? entry : undefined;
    const id = await resolvePolicy(domain, { strict: true, resolver: (name) => options.txt(name) }).catch(() => false);
    if (typeof id !== 'string') return valid?.policy;
    if (known.get(domain, (each) => each === valid && each.id === id) !== undefined) return valid?.policy;
    const key = `${domain} ${id}`;
    if ((failed.get(key) ?? 0) > Date.now()) return valid?.policy;
    try {
      const policy = parsePolicy(await fetchPolicy(domain, options), { strict: true });
      known.set(domain, { id, policy, untilMs: Date.now() + (policy.maxAge ?? 0) * 1_000 });
      return policy;
    } catch {
      if (failed.size >= REMEMBERED_MAX) failed.clear();
      failed.set(key, Date.now() + MTA_STS_FETCH_AGAIN_MS);
      return valid?.policy;
    }
  }

  return {
    of(domain) {
      let looking = running.get(domain);
      if (looking === undefined) {
        looking = look(domain).finally(() => running.delete(domain));
        running.set(domain, looking);
      }
      return looking;
    },
  };
}

/** The text of the policy: status 200, `text/plain`, no redirects (RFC 8461 §3.3). Rejects otherwise. */
async function fetchPolicy(domain: string, { destinations, ca, port = 443 }: StsOptions): Promise<Buffer> {
  const host = `mta-sts.${domain}`;
  const checked = await checkDestination(`https://${host}/.well-known/mta-sts.txt`, destinations);
  if (!checked.ok) throw new Error(checked.message);
  const [first] = checked.addresses;
  if (first === undefined) throw new Error(`${host} has no address`);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: first.address,
        port,
        path: checked.url.pathname,
        servername: host,
        headers: { host },
        agent: false,
        rejectUnauthorized: true,
        signal: AbortSignal.timeout(MTA_STS_FETCH_TIMEOUT_MS),
        ...(ca === undefined ? {} : { ca: [...ca] }),
      },
      (answer) => {
        const refuse = (reason: string) => asked.destroy(new Error(`${host} ${reason}`));
        const type = answer.headers['content-type'] ?? '';
        answer.on('error', reject);
        if (answer.statusCode !== 200) return refuse(`answers ${answer.statusCode}`);
        if (!/^text\/plain\s*(;|$)/i.test(type)) return refuse(`answers ${type}`);
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MTA_STS_POLICY_MAX_BYTES) refuse('answers too much');
          else chunks.push(chunk);
        });
        answer.on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}
