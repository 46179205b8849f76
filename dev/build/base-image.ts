/**
 * Pins the base image of the Dockerfile to what its tag names now, for all systems that it is built for.
 *
 *   npm run base-image
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeFileIfChanged } from '#core/platform/write-file.ts';

const FILE = fileURLToPath(new URL('../../Dockerfile', import.meta.url));
const PINNED =
  /^ARG NODE_IMAGE=(?<host>[^/\s]+)\/(?<repository>[^:\s]+):(?<tag>[^@\s]+)@(?<digest>sha256:[0-9a-f]{64})$/m;
/** The list of the images of all systems, not one of them. */
const INDEX_TYPES =
  'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json';
/** Docker Hub names itself otherwise than its registry. */
const REGISTRIES: Readonly<Record<string, string>> = { 'docker.io': 'https://registry-1.docker.io' };
const ANSWER_WITHIN_MS = 30_000;

const get = (url: string | URL, headers: Record<string, string>, method = 'GET') =>
  fetch(url, { method, headers, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });

/** The token that a registry gives to everybody, from the challenge of its first answer (RFC 6750 §3). */
async function anonymousToken(challenge: string): Promise<string> {
  const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]));
  const url = new URL(fields.get('realm') ?? '');
  for (const name of ['service', 'scope']) url.searchParams.set(name, fields.get(name) ?? '');
  const { token } = (await (await get(url, {})).json()) as { readonly token: string };
  return token;
}

/**
 * @param registry its address, e.g. `https://registry-1.docker.io`
 * @returns `sha256:…` of the image index
 * @throws if the registry has no index of that tag
 */
export async function newestDigest(registry: string, repository: string, tag: string): Promise<string> {
  const url = `${registry}/v2/${repository}/manifests/${tag}`;
  let answer = await get(url, { accept: INDEX_TYPES }, 'HEAD');
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 401 && challenge !== null)
    answer = await get(
      url,
      { accept: INDEX_TYPES, authorization: `Bearer ${await anonymousToken(challenge)}` },
      'HEAD',
    );
  const digest = answer.headers.get('docker-content-digest') ?? '';
  const type = answer.headers.get('content-type') ?? '';
  if (!answer.ok || !INDEX_TYPES.split(', ').includes(type) || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`${url} answered ${answer.status} ${type} ${digest}`);
  return digest;
}

/**
 * @param dockerfile its text
 * @param registryOf the address of the registry on a host
 * @returns the text with the newest digest
 */
export async function withNewestBase(
  dockerfile: string,
  registryOf: (host: string) => string = (host) => REGISTRIES[host] ?? `https://${host}`,
): Promise<string> {
  const { host = '', repository = '', tag = '', digest = '' } = PINNED.exec(dockerfile)?.groups ?? {};
  if (digest === '')
    throw new Error('the Dockerfile has no line ARG NODE_IMAGE=<host>/<repository>:<tag>@sha256:<digest>');
  return dockerfile.replace(digest, await newestDigest(registryOf(host), repository, tag));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(FILE, 'utf8');
  const after = await withNewestBase(before);
  writeFileIfChanged(FILE, after);
  process.stdout.write(after === before ? 'The base image is the newest.\n' : `${PINNED.exec(after)?.[0]}\n`);
}
