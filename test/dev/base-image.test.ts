import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withNewestBase } from '#dev/build/base-image.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const INDEX = 'application/vnd.oci.image.index.v1+json';
const dockerfile = readFileSync(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');
let type = INDEX;
/** Answers as the registry of Docker Hub does: with a token for everybody. */
const registry = createServer((request, response) => {
  const url = new URL(request.url ?? '', address());
  if (url.pathname === '/token') {
    const [service, scope] = [url.searchParams.get('service'), url.searchParams.get('scope')];
    return void response.end(JSON.stringify({ token: `for ${service} ${scope}` }));
  }
  assert.equal(url.pathname, '/v2/library/node/manifests/24-bookworm-slim');
  assert.equal(request.method, 'HEAD');
  const scope = 'repository:library/node:pull';
  if (request.headers.authorization !== `Bearer for registry.test ${scope}`)
    return void response
      .writeHead(401, {
        'www-authenticate': `Bearer realm="${address()}/token",service="registry.test",scope="${scope}"`,
      })
      .end();
  response.writeHead(200, { 'content-type': type, 'docker-content-digest': DIGEST }).end();
});
const address = (): string => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

before(async () => {
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
});
after(() => registry.close());

test('the base image of the Dockerfile is pinned to what its tag names now', async () => {
  const changed = await withNewestBase(dockerfile, (host) => {
    assert.equal(host, 'docker.io');
    return address();
  });
  assert.match(changed, new RegExp(`^ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim@${DIGEST}$`, 'm'));
  assert.equal(changed.replace(DIGEST, ''), dockerfile.replace(/sha256:[0-9a-f]{64}/, ''));
});

test('an image of one system is no base image', async () => {
  type = 'application/vnd.oci.image.manifest.v1+json';
  await assert.rejects(
    withNewestBase(dockerfile, () => address()),
    /answered 200 application\/vnd\.oci\.image\.manifest/,
  );
  type = INDEX;
});
